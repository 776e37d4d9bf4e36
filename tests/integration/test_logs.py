from __future__ import annotations

import logging
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from loguru import logger

from memoranda.logs import RotatingFile, configure_logging


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    handlers, level = logging.root.handlers, logging.root.level
    yield
    logger.remove()
    logging.root.handlers = handlers
    logging.root.setLevel(level)


def test_lines_go_to_stderr_and_file_and_never_to_stdout(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "new" / "memoranda.log"
    configure_logging("INFO", file)
    logger.debug("too fine")
    logger.info("indexed {}", "a.md")
    out, err = capfd.readouterr()
    assert out == ""
    assert "indexed a.md" in err
    assert "too fine" not in err + file.read_text()
    assert "indexed a.md" in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_configuring_again_does_not_double_lines(tmp_path: Path) -> None:
    for _ in range(2):
        configure_logging("INFO", tmp_path / "l.log", stderr=False)
    logger.info("once")
    assert (tmp_path / "l.log").read_text().count("once") == 1


def test_a_traceback_shows_no_values_of_variables(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    configure_logging("INFO", tmp_path / "l.log")

    def parse(text: str) -> None:
        raise ValueError(len(text))

    try:
        parse("the secret of a note")
    except ValueError:
        secret = "another secret"  # noqa: F841
        logger.exception("parsing failed")
    for shown in (capfd.readouterr().err, (tmp_path / "l.log").read_text()):
        assert "ValueError: 20" in shown
        assert "= 'the secret" not in shown
        assert "└" not in shown


def test_libraries_are_heard_from_warning_on(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    configure_logging("DEBUG", tmp_path / "l.log")
    library = logging.getLogger("some.library")
    library.info("chatter")
    monkeypatch.setattr(library, "level", logging.DEBUG)
    library.debug("chatter")
    library.warning("take {care} %s", "now")
    assert capfd.readouterr().err.count("take {care} now") == 1
    text = (tmp_path / "l.log").read_text()
    assert "chatter" not in text
    assert "WARNING some.library: take {care} now" in text


def test_a_file_that_cannot_be_written_is_said_once(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    configure_logging("INFO", tmp_path / "file" / "l.log")
    logger.info("one")
    logger.info("two")
    out, err = capfd.readouterr()
    assert (out, err.count("keeps no log file")) == ("", 1)
    assert err.count("one") == err.count("two") == 1


def test_a_file_that_fails_later_is_said_once_and_stops_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    configure_logging("INFO", tmp_path / "cfg" / "l.log", stderr=False)
    (tmp_path / "cfg" / "l.log").unlink()
    (tmp_path / "cfg").rmdir()
    logger.info("one")
    logger.info("two")
    assert capfd.readouterr().err.count("cannot write its log file") == 1


def test_old_files_are_kept_up_to_the_limit(tmp_path: Path) -> None:
    sink = RotatingFile(tmp_path / "l.log", max_bytes=10, kept=3)
    for number in range(6):
        sink(f"line number {number}\n")
    assert not (tmp_path / "l.log").exists()
    assert (tmp_path / "l.log.1").read_text() == "line number 5\n"
    assert (tmp_path / "l.log.2").read_text() == "line number 4\n"
    assert not (tmp_path / "l.log.3").exists()


def test_a_file_that_another_process_has_just_rotated_is_left_alone(tmp_path: Path) -> None:
    sink = RotatingFile(tmp_path / "l.log", max_bytes=10)
    sink("short\n")
    sink._rotate()
    assert (tmp_path / "l.log").read_text() == "short\n"
    (tmp_path / "l.log").unlink()
    sink._rotate()
    assert not (tmp_path / "l.log.1").exists()


def test_many_processes_rotate_one_file_without_losing_a_line(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from memoranda.logs import RotatingFile\n"
        "sink = RotatingFile(Path(sys.argv[1]), max_bytes=500, kept=200)\n"
        "for i in range(100): sink(f'{sys.argv[2]} {i} ' + 'x' * 30 + '\\n')"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, tmp_path / "l.log", str(n)], stderr=subprocess.PIPE
        )
        for n in range(4)
    ]
    assert [process.communicate()[1] for process in running] == [b""] * 4
    lines = [
        line for file in tmp_path.glob("l.log*") for line in file.read_text().splitlines() if line
    ]
    assert len(lines) == len(set(lines)) == 400
