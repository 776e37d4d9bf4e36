"""Our reading of ignore files against git's own, over random rule files and trees.

Left out of the comparison, because we differ on purpose (docs/how-to/leave-files-out.md): `?` and brackets for
letters outside ASCII, where git counts bytes; links; two stars behind other signs and before a slash (`a**/b`).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoranda.files.ignore_files import ignoring_rule
from memoranda.files.scan import scan_folder

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("git") is None, reason="git is not there"),
]

_NAMES = st.one_of(
    st.sampled_from(["a", "b", "ab", "a b", "b ", "#a", "!a", "[a]", "*", "a]", "\\", "-", "a\nb"]),
    st.text("ab-]^", min_size=1, max_size=4),
)
_FILES = st.builds(
    lambda folders, name, end: "/".join([*folders, name + end]),
    st.lists(_NAMES, max_size=3),
    _NAMES,
    st.sampled_from([".md", ".md", ".x", ""]),
)
_PIECES = st.one_of(
    st.sampled_from(
        ["a", "b", "*", "?", "/", "**/", "/**", "/**/", "***", "\\", " ", "\\ ", "#", "!", "\t"]
    ),
    st.sampled_from(
        ["[ab]", "[!a]", "[^b]", "[a-b]", "[b-a]", "[]a]", "[!]]", "[a", "[\\]a]", "[--a]"]
    ),
    st.sampled_from(
        ["[[:alpha:]]", "[[:x:]]", "[[:a]", "[[a:]", "[a[:digit:]-b]", "[a/b]", "[a-]", "[]-a]"]
    ),
    st.sampled_from(["*.md", ".md", "a*", "ab", "\\*", "\\[a]", "\\/", "\r"]),
)
_LINES = st.builds(
    lambda sign, pieces, end: sign + "".join(pieces) + end,
    st.sampled_from(["", "", "!", "/", "!/", "\\!", "\\#", "**/"]),
    st.lists(_PIECES, max_size=4),
    st.sampled_from(["", "", "/", " ", "\r"]),
)
_ODD_STARS = re.compile(r"[^/*]\*\*+\\?/")
_RULES = st.lists(
    _LINES.filter(lambda line: not _ODD_STARS.search(line.removeprefix("!"))), max_size=6
)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", str(folder)], check=True, capture_output=True)
    return folder


def deciding_rules(repository: Path, base: str, paths: list[str]) -> dict[str, str | None]:
    """What git says: for each path `source:line` of the rule that leaves it out, or None."""
    command = [
        "git",
        "-c",
        "core.excludesFile=",
        "check-ignore",
        "--no-index",
        "-v",
        "-n",
        "-z",
        "--stdin",
    ]
    asked = b"".join(os.fsencode(f"{base}/{path}\0") for path in paths)
    answer = subprocess.run(command, cwd=repository, input=asked, capture_output=True)
    assert answer.returncode in (0, 1), answer.stderr
    fields = [os.fsdecode(field) for field in answer.stdout.split(b"\0")[:-1]]
    found: dict[str, str | None] = {}
    for at in range(0, len(fields), 4):
        source, line, pattern, path = fields[at : at + 4]
        is_ignored = bool(pattern) and not pattern.startswith("!")
        rule = f"{source.removeprefix(base + '/')}:{line}" if is_ignored else None
        found[path.removeprefix(base + "/")] = rule
    return found


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    files=st.lists(_FILES, min_size=1, max_size=6),
    rules=_RULES,
    inner=st.dictionaries(st.integers(0, 5), _RULES, max_size=2),
)
def test_rules_leave_out_what_git_ignores(
    repository: Path, files: list[str], rules: list[str], inner: dict[int, list[str]]
) -> None:
    base = uuid4().hex
    root = repository / base
    root.mkdir()
    try:
        made: list[str] = []
        for path in files:
            try:
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text("x")
                made.append(path)
            except OSError:
                continue  # a folder has that name, or a file that of the folder
        (root / ".gitignore").write_bytes("\n".join(rules).encode())
        for number, lines in inner.items():
            if number < len(made):
                (root / made[number]).parent.joinpath(".gitignore").write_bytes(
                    "\n".join(lines).encode()
                )
        expected = deciding_rules(repository, base, made)
        found = {}
        for path in made:
            rule = ignoring_rule(os.path.realpath(root), path)
            found[path] = f"{rule.source}:{rule.line}" if rule else None
        assert found == expected
        notes = {path for path in made if path.endswith(".md")}
        scan = scan_folder(root)
        assert {file.path for file in scan.files} & notes == {p for p in notes if not expected[p]}
    finally:
        shutil.rmtree(root)
