"""Fill the generated parts of docs/reference from what they describe, or check that they are current.

    python docs/generate.py            write
    python docs/generate.py --check    fail when a page is not what it should be

A part lies between `<!-- generated: NAME -->` and `<!-- end -->`; the rest of a page is written by
hand. A command, tool or setting without a description is an error here, so none goes undocumented.
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

REFERENCE = Path(__file__).resolve().parent / "reference"
_PART = r"(<!-- generated: {name} -->\n)(.*?)(<!-- end -->)"


def pages() -> dict[str, Callable[[], str]]:
    """Page name (without `.md`) -> what makes its generated part."""
    return {"cli": cli, "tools": tools, "configuration": configuration}


def filled(name: str, page: str) -> str:
    """The page's text with its generated part made anew.

    Raises:
        ValueError: the page has no such part, or more than one.
    """
    part = re.compile(_PART.format(name=name), re.DOTALL)
    if len(part.findall(page)) != 1:
        raise ValueError(f"docs/reference/{name}.md needs one part <!-- generated: {name} -->")
    text = pages()[name]()
    return part.sub(lambda match: f"{match[1]}\n{text.strip()}\n\n{match[3]}", page)


def cli() -> str:
    """Every command with its arguments and options."""
    import typer

    from memoranda.cli.application import application

    blocks = []
    for path, command in _commands("memoranda", typer.main.get_command(application())):
        words = [
            name if param.required else f"[{name}]"
            for param in command.params
            if param.param_type_name == "argument"
            for name in [_argument_name(param) + ("..." if param.nargs == -1 else "")]
        ]
        options = [param for param in command.params if param.param_type_name == "option"]
        usage = " ".join([path, *words, *(["[OPTIONS]"] if options else [])])
        blocks.append(f"## `{path}`\n\n```text\n{usage}\n```\n\n{_paragraphs(command.help)}")
        rows = [
            (_option_names(param), _told(path, param.name, param.help), _default(param))
            for param in command.params
        ]
        if rows:
            blocks.append(_table(("Argument or option", "Meaning", "Default"), rows))
    return "\n\n".join(blocks)


def tools() -> str:
    """Every MCP tool with its parameters."""
    from memoranda.mcp.table import TOOLS

    blocks = []
    toolset = None
    for tool in TOOLS:
        if tool.toolset != toolset:
            toolset = tool.toolset
            blocks.append(f"## Toolset `{toolset}`")
        hints = [
            "only reads" if tool.read_only else "writes",
            *(["may destroy"] if tool.destructive else []),
            *(["harmless to repeat"] if tool.idempotent else []),
        ]
        blocks.append(f"### `{tool.name}`\n\n{_paragraphs(_told(tool.name, '', tool.description))}")
        blocks.append(f"Hints for clients: {', '.join(hints)}.")
        rows = [
            (
                f"`{param.name}`" + (" (required)" if param.required else ""),
                _kind(param),
                _sentence(_told(tool.name, param.name, param.description or _meaning(tool, param))),
                f"`{json.dumps(param.default)}`" if param.default not in (None, (), {}) else "",
                ", ".join(f"`{alias}`" for alias in param.aliases),
            )
            for param in tool.all_params
        ]
        blocks.append(_table(("Parameter", "Kind", "Meaning", "Default", "Also accepted"), rows))
    return "\n\n".join(blocks)


def configuration() -> str:
    """Every setting with its variable, and its default where that counts."""
    from memoranda.cli.commands.config import DETECTED
    from memoranda.settings import ENV_PREFIX, Settings

    told = _attributes(inspect.getdoc(Settings) or "")
    rows = []
    for name, field in Settings.model_fields.items():
        default = field.get_default(call_default_factory=True)
        rows.append(
            (
                f"`{name}`",
                f"`{ENV_PREFIX}{name.upper()}`",
                "detected" if name in DETECTED else f"`{json.dumps(default)}`",
                _sentence(_told("Settings", name, field.description or told.get(name))),
            )
        )
    return _table(("Key", "Environment variable", "Default", "Meaning"), rows)


# What a client need not be told in every session (descriptions fill the window of a model), and a
# reader of the reference wants to know. A description in the declaration wins.
_MEANINGS = {
    "build_context path": "Which note; `projects/*` (all below), `projects/*/plan` or `**/plan` matches many.",
    "create_memory_project name": "What to call it.",
    "create_memory_project set_default": "Whether to make it the default project.",
    "list_directory depth": "How many levels of folders to list.",
    "build_context max_related": "How many related notes at most.",
    "note_history start_line": "First line wanted of a long difference or note.",
    "read_note start_line": "First line wanted; left out: the first.",
    "read_note end_line": "Last line wanted, inclusive; left out: the last.",
    "read_note max_chars": "Characters of text at most; a longer note is cut at the end of a line.",
    "page": "Which page, counted from 1.",
    "page_size": "How many on a page.",
    "output_format": "`text` for a model, `json` for a program.",
}


def _meaning(tool: Any, param: Any) -> str | None:
    return _MEANINGS.get(f"{tool.name} {param.name}", _MEANINGS.get(param.name))


def _commands(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield path, command
        return
    for name, each in inner.items():
        yield from _commands(f"{path} {name}", each)


def _option_names(param: Any) -> str:
    if param.param_type_name == "argument":
        return f"`{_argument_name(param)}`"
    names = ", ".join(f"`{name}`" for name in param.opts)
    return names if param.is_flag or not param.metavar else f"{names} `{param.metavar}`"


def _argument_name(param: Any) -> str:
    return param.metavar or str(param.name).upper()


def _default(param: Any) -> str:
    if param.default in (None, False, "") or callable(param.default):
        return "required" if param.required else ""
    return f"`{param.default}`"


def _kind(param: Any) -> str:
    words = [str(param.kind)]
    if param.choices:
        words.append("one of " + ", ".join(f"`{choice}`" for choice in param.choices))
    if param.minimum is not None and param.maximum is not None:
        words.append(f"{param.minimum:,} to {param.maximum:,}")
    elif param.minimum is not None:
        words.append(f"at least {param.minimum:,}")
    return ", ".join(words)


def _attributes(docstring: str) -> dict[str, str]:
    """The `Attributes:` of a Google style docstring: name -> text."""
    section = docstring.partition("Attributes:\n")[2].partition("\n\n")[0]
    found: dict[str, str] = {}
    name = ""
    for line in inspect.cleandoc(section).splitlines():
        if match := re.match(r"(\w+): (.*)", line):
            name = match[1]
            found[name] = match[2]
        elif name:
            found[name] += f" {line.strip()}"
    return found


def _told(owner: str, name: str | None, text: str | None) -> str:
    if not text:
        raise ValueError(f"{owner} {name}: no description")
    return text


def _sentence(text: str) -> str:
    """With a capital; a value that is told first (`fts: by words`) stays as it is typed."""
    return text if re.match(r"\w+: ", text) else text[:1].upper() + text[1:]


def _paragraphs(text: str | None) -> str:
    """Help text with one sentence a line, as in the rest of the documentation."""
    whole = [" ".join(part.split()) for part in (text or "").split("\n\n")]
    return "\n\n".join(re.sub(r"(?<=[.:]) (?=[A-Z])", "\n", part) for part in whole)


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in line) + " |"
        for line in lines
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check all pages; returns 1 when `--check` finds one that is not current."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args(arguments).check
    stale = []
    for name in pages():
        file = REFERENCE / f"{name}.md"
        before = file.read_text(encoding="utf-8")
        after = filled(name, before)
        if before == after:
            continue
        if check:
            stale.append(file.name)
        else:
            file.write_text(after, encoding="utf-8")
            print(f"wrote {file.name}")
    if stale:
        print(f"not current: {', '.join(stale)}; run: make docs", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
