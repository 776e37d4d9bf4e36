"""How shells ask what a word may become, and how they take the answer."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from enum import StrEnum

from memoranda.cli.completing import Candidate


class Shell(StrEnum):
    """The shells that are known."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


FILES = "\x1f"
"""The answer that asks the shell for files of its own."""

_BASH = """\
_memoranda() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
            $'\\x1f') compopt -o default; return ;;
            */ | *=) compopt -o nospace ;;
        esac
        COMPREPLY+=("$line")
    done < <(PROGRAM completion bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _memoranda memoranda
"""
_ZSH = """\
#compdef memoranda
_memoranda() {
    local line
    local -a words_found about_found
    while IFS= read -r line; do
        if [[ $line == $'\\x1f' ]]; then _files; return; fi
        words_found+=("${line%%$'\\t'*}")
        about_found+=("${line/$'\\t'/  -- }")
    done < <(PROGRAM completion zsh -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)
    compadd -l -S '' -d about_found -- "${(@M)words_found:#*/}"
    compadd -l -d about_found -- "${(@)words_found:#*/}"
}
compdef _memoranda memoranda
"""
_FISH = """\
function __memoranda_complete
    set -l words (commandline -opc) (commandline -ct)
    PROGRAM completion fish -- $words[2..] 2>/dev/null | while read -l line
        if test "$line" = (printf '\\x1f')
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c memoranda -f -a '(__memoranda_complete)'
"""
_SCRIPTS = {Shell.BASH: _BASH, Shell.ZSH: _ZSH, Shell.FISH: _FISH}
_SPECIAL = re.compile(r"([^\w@%+=:,./\-])")
_OPTION = re.compile(r"--[\w-]+=")
_ESCAPED = re.compile(r"\\(.)|['\"]")


def script(shell: Shell, program: Sequence[str]) -> str:
    """What a shell reads once, so that it asks this program."""
    return _SCRIPTS[shell].replace("PROGRAM", shlex.join(program))


def plain_words(shell: Shell, words: Sequence[str]) -> list[str]:
    """The words as the program would get them; the shell gives them as they are typed."""
    if shell is Shell.BASH:  # three words of `--project=name`, and all with their quotes
        return [_ESCAPED.sub(_unescaped, word) for word in _joined(words)]
    if shell is Shell.FISH and words:  # the last one with its quotes
        return [*words[:-1], _ESCAPED.sub(_unescaped, words[-1])]
    return list(words)


def _joined(words: Sequence[str]) -> list[str]:
    joined: list[str] = []
    for word in words:
        if joined and (word == "=" or joined[-1].endswith("=")):
            joined[-1] += word
        else:
            joined.append(word)
    return joined


def _unescaped(found: re.Match[str]) -> str:
    return found[1] or ""


def answer(shell: Shell, found: Sequence[Candidate] | None, typed: str) -> list[str]:
    """The lines of the answer.

    Args:
        shell: that asks.
        found: what fits; None: a file of the machine.
        typed: the last word as the shell gave it.
    """
    if found is None:
        return [FILES]
    if shell is not Shell.BASH:
        return [
            f"{each.word}\t{_first_line(each.about)}" if each.about else each.word for each in found
        ]
    values = [_OPTION.sub("", each.word) for each in found]  # what is behind the = is a word to it
    if typed[:1] in {"'", '"'}:  # the shell closes the quotes itself
        return values
    return [_SPECIAL.sub(r"\\\1", value) for value in values]


def _first_line(text: str) -> str:
    return " ".join(text.split())
