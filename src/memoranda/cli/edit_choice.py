"""Which edit of a note's text the options of `memoranda edit` mean."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import typer

from memoranda.cli.input_text import STDIN, given_text
from memoranda.model.edit import Append, EditSection, FindReplace, Place, Prepend, Replace

if TYPE_CHECKING:
    from memoranda.model.edit import Edit


@dataclass(frozen=True, slots=True)
class TextOptions:
    """The options as they are given, None: not given."""

    append: str | None = None
    prepend: str | None = None
    body: str | None = None
    find: str | None = None
    replacement: str | None = None
    count: int = 1
    section: str | None = None
    text: str | None = None
    before: str | None = None
    after: str | None = None


_OPTIONS = {"replacement": "--replace-with"}
_OPERATIONS = ("append", "prepend", "body", "find", "section")
_OF_FIND = ("replacement",)
_OF_SECTION = ("text", "before", "after")


def chosen_edit(options: TextOptions) -> Edit | None:
    """The edit of the text, None when none is asked for; reads standard input where a text is `-`.

    Raises:
        typer.BadParameter: two edits, an edit without its text, or a text without its edit.
        InvalidArgument: standard input is not UTF-8.
    """
    operations = _given(options, _OPERATIONS)
    if len(operations) > 1:
        raise typer.BadParameter(
            "give one of them, and run the command once for each", param_hint=_names(operations)
        )
    operation = operations[0] if operations else ""
    _require(options, _OF_FIND, "find", operation)
    _require(options, _OF_SECTION, "section", operation)
    if options.count != 1 and operation != "find":
        raise typer.BadParameter("it is for --find", param_hint="--count")
    options = _read(options)
    match operation:
        case "append":
            return Append(options.append or "")
        case "prepend":
            return Prepend(options.prepend or "")
        case "body":
            return Replace(options.body or "")
        case "find":
            return _find(options)
        case "section":
            return _section(options)
        case _:
            return None


def _find(options: TextOptions) -> FindReplace:
    if not options.find:
        raise typer.BadParameter("give the text to find", param_hint="--find")
    return FindReplace(options.find, options.replacement or "", options.count)


def _section(options: TextOptions) -> EditSection:
    section = options.section or ""
    if not section.strip():
        raise typer.BadParameter("name a heading", param_hint="--section")
    if options.before is not None:
        return EditSection(section, options.before, Place.BEFORE)
    if options.after is not None:
        return EditSection(section, options.after, Place.AFTER)
    return EditSection(section, options.text or "", Place.INSTEAD)


def _require(options: TextOptions, parts: tuple[str, ...], whole: str, operation: str) -> None:
    """Exactly one of the parts belongs to the operation, and none to another."""
    given = _given(options, parts)
    if operation != whole and given:
        raise typer.BadParameter(f"it is for --{whole}", param_hint=_names(given))
    if operation == whole and len(given) != 1:
        wanted = _names(parts) if not given else f"one of {_names(given)}"
        raise typer.BadParameter(f"give {wanted} as well", param_hint=f"--{whole}")


def _read(options: TextOptions) -> TextOptions:
    """The options with the text of standard input in place of a `-`."""
    names = [
        name
        for name in (*_OPERATIONS[:3], *_OF_FIND, *_OF_SECTION)
        if getattr(options, name) == STDIN
    ]
    texts: dict[str, Any] = {name: given_text(STDIN) for name in names}
    return replace(options, **texts)


def _given(options: TextOptions, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if getattr(options, name) is not None)


def _names(options: tuple[str, ...]) -> str:
    return ", ".join(_OPTIONS.get(name, f"--{name}") for name in options)
