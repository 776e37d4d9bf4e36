"""Values -> YAML that every reader takes for these very values."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final

from memoranda.errors import InvalidArgument
from memoranda.markdown.lines import LINE_END
from memoranda.markdown.yaml_values import Value, iso_date

MAX_METADATA_DEPTH: Final = 20

_PLAIN: Final = re.compile(r"[^\W\d_](?:[\w.,/()+&'-]| (?! ))*")
_WORDS_OF_YAML: Final = frozenset({"true", "false", "yes", "no", "on", "off", "y", "n", "null"})
_NOT_PRINTABLE: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_LITERAL: Final = re.compile(
    r"[^\x00-\x09\x0b-\x20\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff][^\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]*"
)
_NO_TEXT: Final = re.compile("[\0\ud800-\udfff]")


def yaml_entry(key: object, value: object, depth: int = 0) -> str:
    """`key: value` with its final line ending, indented by two blanks for each level of depth.

    Raises:
        InvalidArgument: a key or a value that frontmatter cannot hold.
    """
    if not isinstance(key, str) or not key.strip() or key == "<<" or len(key) > 200:
        raise InvalidArgument("metadata", f"{key!r} cannot be a frontmatter key")
    if LINE_END.search(key):
        raise InvalidArgument("metadata", f"the frontmatter key {key!r} has more than one line")
    return f"{'  ' * depth}{yaml_text(key)}:{yaml_value(value, depth)}"


def yaml_value(value: object, depth: int) -> str:
    """What follows `key:` or `-`, final line ending included."""
    if depth > MAX_METADATA_DEPTH:
        raise InvalidArgument("metadata", "metadata is nested too deeply")
    if isinstance(value, Mapping):
        if not value:
            return " {}\n"
        return "\n" + "".join(yaml_entry(key, item, depth + 1) for key, item in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        if not value:
            return " []\n"
        return "\n" + "".join(f"{'  ' * (depth + 1)}-{yaml_value(v, depth + 1)}" for v in value)
    return f" {yaml_scalar(value)}\n"


def yaml_scalar(value: object) -> str:
    """One value on one line, as it stands behind `key: `.

    Raises:
        InvalidArgument: a value that is not text, number, boolean, date or None.
    """
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            try:
                return str(value)
            except ValueError as error:  # Python bounds the digits of a number
                raise InvalidArgument("metadata", "a number has too many digits") from error
        case float():
            if not math.isfinite(value):
                raise InvalidArgument("metadata", f"{value} cannot be written to frontmatter")
            return repr(value)
        case date():  # datetime too
            return value.isoformat()
        case str():
            return yaml_text(value)
        case _:
            raise InvalidArgument(
                "metadata", f"a {type(value).__name__} cannot be written to frontmatter"
            )


def yaml_text(text: str) -> str:
    """A YAML scalar that every reader takes for this text; plain where no reader could guess."""
    if match := _NO_TEXT.search(text):
        raise InvalidArgument("metadata", f"the character {match[0]!a} cannot be in frontmatter")
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS_OF_YAML and text[-1] != " ":
        return text
    if iso_date(text) == text:
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return _NOT_PRINTABLE.sub(lambda sign: f"\\u{ord(sign[0]):04x}", quoted)


def flow_scalar(value: object) -> str:
    """One value as it stands between the brackets of `[a, b]` or `{a: b}`."""
    text = yaml_scalar(value)
    return json.dumps(text, ensure_ascii=False) if text[0] != '"' and "," in text else text


def yaml_literal(text: str, column: int) -> tuple[str, str] | None:
    """`|` or `|-` and the lines below it in that column, the last without its line ending.

    None for a text that has one line, or that such a block cannot hold as it is.
    """
    lines = text.removesuffix("\n").split("\n")
    if len(lines) == 1 or not _LITERAL.fullmatch(text) or not lines[-1].strip():
        return None
    sign = "|" if text.endswith("\n") else "|-"
    return sign, "".join(f"\n{' ' * column}{line}" if line else "\n" for line in lines)


def value_as_read(value: object) -> Value:
    """The value as the reader of frontmatter gives it back, once it is written."""
    match value:
        case None | str():
            return value
        case bool():
            return str(value)
        case Mapping():
            return {str(key): value_as_read(item) for key, item in value.items()}
        case Sequence() if not isinstance(value, bytes):
            return [value_as_read(item) for item in value]
        case _:
            return yaml_scalar(value)
