"""What `make dist` finds wrong with a wheel, a source distribution and a description."""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from tools.distribution.artefacts import (
    NEEDED_IN_SDIST,
    NEEDED_IN_WHEEL,
    differences,
    sdist_faults,
    wheel_faults,
)
from tools.distribution.metadata import description_faults, metadata_faults
from tools.index_page import index_page

ROOT = Path(__file__).resolve().parent.parent.parent
INFO = "memoranda-1.0.dist-info/"
METADATA = """\
Metadata-Version: 2.4
Name: memoranda
Version: 1.0
License-File: LICENSE
Description-Content-Type: text/markdown

# Memoranda
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package with the needed files and one module, beside what an editor and Python leave behind."""
    for name in (
        *NEEDED_IN_WHEEL,
        "memoranda/a.py",
        "memoranda/__pycache__/a.pyc",
        "memoranda/a.py~",
    ):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name, encoding="utf-8")
    return tmp_path / "memoranda"


@pytest.fixture
def wheel() -> dict[str, bytes]:
    """A whole wheel of that package."""
    names = (*NEEDED_IN_WHEEL, "memoranda/a.py")
    return {name: name.encode() for name in names} | {
        f"{INFO}METADATA": METADATA.encode(),
        f"{INFO}entry_points.txt": b"",
        f"{INFO}licenses/LICENSE": b"",
    }


def test_a_whole_wheel_has_no_faults(package: Path, wheel: dict[str, bytes]) -> None:
    assert wheel_faults(wheel, package) == []
    assert metadata_faults(wheel) == []


@pytest.mark.parametrize("name", [*NEEDED_IN_WHEEL, "memoranda/a.py"])
def test_a_file_that_a_wheel_lacks_is_named(
    name: str, package: Path, wheel: dict[str, bytes]
) -> None:
    del wheel[name]
    assert wheel_faults(wheel, package) == [f"the wheel lacks {name}"]


@pytest.mark.parametrize("name", NEEDED_IN_WHEEL)
def test_a_needed_file_that_the_tree_has_lost_as_well_is_named(
    name: str, package: Path, wheel: dict[str, bytes]
) -> None:
    del wheel[name]
    (package.parent / name).unlink()
    assert wheel_faults(wheel, package) == [f"the wheel lacks {name}"]


@pytest.mark.parametrize(
    "name", ["tests/test_a.py", "benchmarks/a.py", "memoranda/__pycache__/a.pyc", "memoranda/b.py"]
)
def test_a_foreign_file_in_a_wheel_is_named(
    name: str, package: Path, wheel: dict[str, bytes]
) -> None:
    wheel[name] = b""
    [fault] = wheel_faults(wheel, package)
    assert name in fault


def test_a_file_that_changed_on_the_way_is_named(package: Path, wheel: dict[str, bytes]) -> None:
    wheel["memoranda/a.py"] = b"other"
    [fault] = wheel_faults(wheel, package)
    assert "memoranda/a.py" in fault
    assert differences(wheel, wheel | {"memoranda/a.py": b""}) == ["memoranda/a.py"]


def test_a_source_distribution_has_what_is_needed_and_no_leavings() -> None:
    whole = dict.fromkeys(NEEDED_IN_SDIST, b"")
    assert sdist_faults(whole) == []
    assert len(sdist_faults({})) == len(NEEDED_IN_SDIST)
    for name in ("tests/__pycache__/a.pyc", ".venv/bin/python", "docs/a.md~", ".mypy_cache/a"):
        assert sdist_faults(whole | {name: b""}) == [f"the source distribution holds {name}"]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (
            ("License-File: LICENSE", "License-File: NOTICE"),
            "licence NOTICE, which the wheel lacks",
        ),
        (("License-File: LICENSE\n", ""), "names no licence file"),
        (("text/markdown", "text/plain"), "is text/plain, not text/markdown"),
        (("Version: 1.0", "Version: one"), "METADATA: "),
        (("# Memoranda", "Memoranda"), "does not begin with a title"),
        (("# Memoranda", "# Memoranda\n\n[Start](docs/README.md)"), "links to docs/README.md"),
    ],
)
def test_what_an_index_would_refuse_or_show_wrong_is_named(
    change: tuple[str, str], fault: str, wheel: dict[str, bytes]
) -> None:
    wheel[f"{INFO}METADATA"] = METADATA.replace(*change).encode()
    assert fault in "\n".join(metadata_faults(wheel))


def test_a_wheel_without_a_command_is_at_fault(wheel: dict[str, bytes]) -> None:
    del wheel[f"{INFO}entry_points.txt"]
    assert metadata_faults(wheel) == ["the wheel declares no command"]


def test_an_index_gets_the_words_of_links_to_files_and_the_links_of_the_web() -> None:
    text = (
        "# A\n\nSee [the pages](docs/README.md), [the web](https://example.org/) and [below](#a).\n"
    )
    shown = index_page(text)
    assert "See the pages, [the web](https://example.org/) and [below](#a)." in shown
    assert "in the source distribution" in shown


def test_an_index_can_show_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert description_faults(readme) != []
    assert description_faults(index_page(readme)) == []


def test_every_package_that_is_imported_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    declared = {
        _canonical(re.split(r"[\[<>=~! ;]", each)[0])
        for each in (*project["dependencies"], *(name for extra in extras for name in extra))
    }
    imported = {
        name
        for file in (ROOT / "src").rglob("*.py")
        for name in re.findall(r"^\s*(?:from|import) (\w+)", file.read_text("utf-8"), re.MULTILINE)
    }
    foreign = imported - sys.stdlib_module_names - {"memoranda"}
    owners = packages_distributions()
    assert {"numpy", "yaml", "fastmcp"} <= foreign
    for name in foreign & owners.keys():  # what is not installed is an extra, or a word in a text
        assert declared & {_canonical(each) for each in (name, *owners[name])}, name


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
