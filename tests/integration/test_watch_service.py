"""The watcher over a real folder: what is told, what is not, and that it goes on telling."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from loguru import logger
from tests.integration.watching import DEADLINE_S, FakeNotifier, HandClock, Hearing, Opener

from memoranda.files.clock import SystemClock
from memoranda.model.live import EventKind, WatchMode, WatchPlan
from memoranda.ports import Clock
from memoranda.sync.native_watch import open_notifier
from memoranda.sync.watch_opening import OpenNotifier
from memoranda.sync.watch_service import RECENT_EVENTS, WatchService

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="replays what Linux tells")

MARK = "zz-mark.md"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = Path(os.path.realpath(tmp_path)) / "notes"
    (folder / "a/b").mkdir(parents=True)
    (folder / "n.md").write_text("old\n")
    return folder


@pytest.fixture
def warnings() -> Iterator[list[str]]:
    """What the log says from WARNING on."""
    found: list[str] = []
    sink = logger.add(lambda message: found.append(str(message)), level="WARNING")
    yield found
    logger.remove(sink)


@pytest.fixture
def hearing() -> Hearing:
    return Hearing()


@asynccontextmanager
async def watching(
    root: Path,
    hearing: Hearing,
    *folders: str,
    plan: WatchPlan | None = None,
    skips: tuple[str, ...] = (),
    clock: Clock | None = None,
    opener: OpenNotifier = open_notifier,
    recursive: bool = False,
) -> AsyncIterator[WatchService]:
    """A service that watches the folders (without any: the root and those of the fixture)."""
    service = WatchService(
        root,
        skips,
        plan or WatchPlan(),
        clock or SystemClock(),
        hearing,
        open_notifier=opener,
        recursive=recursive,
    )
    await service.watch(folders or ("", "a", "a/b"))
    try:
        yield service
    finally:
        await service.stop()


async def told(root: Path, hearing: Hearing) -> frozenset[str]:
    """What was told until a mark that is made now is told, without the mark."""
    (root / MARK).write_text("mark")
    found = await hearing.until(MARK)
    hearing.forget()
    return found - {MARK}


# --- what is told -----------------------------------------------------------------------------------


@pytest.mark.spec("4.1")
async def test_a_note_that_is_made_changed_and_removed_is_told_with_what_happened(
    root: Path, hearing: Hearing
) -> None:
    clock = HandClock(1000.0)
    async with watching(root, hearing, clock=clock) as service:
        (root / "a/b/new.md").write_text("1")
        await hearing.until("a/b/new.md")
        with (root / "n.md").open("a") as file:
            file.write("more")
        await hearing.until("n.md")
        (root / "a/b/new.md").unlink()
        hearing.forget()
        await hearing.until("a/b/new.md")
        events = [(event.kind, event.path) for event in service.state.recent_events]
        assert events == [
            (EventKind.CREATED, "a/b/new.md"),
            (EventKind.MODIFIED, "n.md"),
            (EventKind.DELETED, "a/b/new.md"),
        ]
        assert {event.at for event in service.state.recent_events} == {clock.now()}


def save_like_vim(note: Path) -> None:
    probe = note.with_name("4913")
    probe.write_text("")
    probe.unlink()
    backup = note.with_name(note.name + "~")
    note.rename(backup)
    note.write_text("new\n")
    note.chmod(0o644)
    backup.unlink()


def save_in_place(note: Path) -> None:
    """VS Code, Obsidian: truncate and write."""
    with note.open("r+") as file:
        file.truncate(0)
        file.write("new\n")


def save_by_rename(note: Path) -> None:
    """`sed -i`: a temporary file without our ending is renamed over the note."""
    temporary = note.with_name("sedAb3xYz")
    temporary.write_text("new\n")
    temporary.replace(note)


def save_by_hidden_rename(note: Path) -> None:
    """Our own tools, and many editors."""
    temporary = note.with_name(".0123456789abcdef.tmp")
    temporary.write_text("new\n")
    temporary.replace(note)


def check_out(note: Path) -> None:
    """Git: remove and make anew."""
    note.unlink()
    note.write_text("new\n")


def change_the_mode(note: Path) -> None:
    note.chmod(0o600)


@pytest.mark.spec("4.1")
@pytest.mark.parametrize(
    "save",
    [
        save_like_vim,
        save_in_place,
        save_by_rename,
        save_by_hidden_rename,
        check_out,
        change_the_mode,
    ],
)
async def test_a_save_is_told_however_an_editor_does_it_and_nothing_else_is(
    save: Callable[[Path], None], root: Path, hearing: Hearing
) -> None:
    note = root / "a/note.md"
    note.write_text("old\n")
    async with watching(root, hearing):
        save(note)
        await hearing.until("a/note.md")
        assert await told(root, hearing) == {"a/note.md"}


async def test_both_names_of_a_renamed_note_are_told(root: Path, hearing: Hearing) -> None:
    async with watching(root, hearing):
        (root / "n.md").rename(root / "a/m.md")
        assert await told(root, hearing) >= {"n.md", "a/m.md"}


async def test_ignore_files_are_told_and_what_no_scan_looks_at_is_not(
    root: Path, hearing: Hearing
) -> None:
    for folder in (".git", "node_modules", "build", "other"):
        (root / folder).mkdir()
    async with watching(root, hearing, skips=("other",)):
        for name in ("x.jpg", ".hidden.md", ".git/x.md", "node_modules/x.md", "build/x.md"):
            (root / name).write_text("x")
        (root / "other").rmdir()
        (root / "other").mkdir()
        (root / ".gitignore").write_text("build/")
        assert await told(root, hearing) == {".gitignore"}


async def test_a_folder_that_may_be_read_again_is_told(root: Path, hearing: Hearing) -> None:
    async with watching(root, hearing, "", "a"):
        (root / "a/b").chmod(0o700)
        await hearing.until("a/b")


# --- folders that come and go -----------------------------------------------------------------------


async def test_a_new_folder_is_told_and_its_notes_once_it_is_watched(
    root: Path, hearing: Hearing
) -> None:
    async with watching(root, hearing) as service:
        (root / "new").mkdir()
        assert await told(root, hearing) == {"new"}
        await service.watch(["", "a", "a/b", "new"])
        assert service.state.folders == 4
        (root / "new/n.md").write_text("x")
        await hearing.until("new/n.md")


async def test_a_renamed_folder_is_told_and_its_notes_once_it_is_watched(
    root: Path, hearing: Hearing
) -> None:
    async with watching(root, hearing) as service:
        (root / "a").rename(root / "c")
        assert await told(root, hearing) == {"", "a", "c"}
        await service.watch(["", "c", "c/b"])
        (root / "c/b/n.md").write_text("x")
        await hearing.until("c/b/n.md")


async def test_a_folder_that_was_replaced_by_another_of_its_name_is_watched_again(
    root: Path, hearing: Hearing
) -> None:
    async with watching(root, hearing) as service:
        shutil.rmtree(root / "a")
        (root / "a/b").mkdir(parents=True)
        assert await told(root, hearing) >= {"", "a"}
        await service.watch(["", "a", "a/b"])
        (root / "a/b/n.md").write_text("x")
        await hearing.until("a/b/n.md")


async def test_everything_is_told_when_a_folder_vanished_before_it_was_watched(
    root: Path, hearing: Hearing
) -> None:
    async with watching(root, hearing, "", "a", "gone", "a/gone") as service:
        assert hearing.batches == [{""}]
        assert service.state.mode is WatchMode.EVENTS
        assert service.state.folders == 2
        (root / "a/n.md").write_text("x")
        await hearing.until("a/n.md")


async def test_a_folder_that_was_moved_away_is_told_as_everything(
    root: Path, hearing: Hearing
) -> None:
    """Nothing is told of the notes in it."""
    (root / "a/b/n.md").write_text("x")
    async with watching(root, hearing):
        (root / "a").rename(root.with_name("elsewhere"))
        assert await told(root, hearing) == {"", "a"}


async def test_nothing_is_done_for_folders_that_are_watched_already(
    root: Path, hearing: Hearing
) -> None:
    opener = Opener()
    async with watching(root, hearing, opener=opener) as service:
        await service.watch(["a/b", "a", ""])
        await service.watch(["", "a", "a/b"])
        assert opener.opened == [[str(root), f"{root}/a", f"{root}/a/b"]]


async def test_no_event_falls_between_two_watches(root: Path, hearing: Hearing) -> None:
    """Notes are written by another thread all the time while the folders change eight times."""
    rounds, notes = 8, 150

    def write(number: int) -> None:
        for note in range(notes):
            (root / "a" / f"{number}-{note}.md").write_text("x")

    async with watching(root, hearing, "", "a") as service:
        for number in range(rounds):
            folders = ["", "a", "a/b"] if number % 2 else ["", "a"]
            await asyncio.gather(asyncio.to_thread(write, number), service.watch(folders))
        wanted = [f"a/{number}-{note}.md" for number in range(rounds) for note in range(notes)]
        assert await hearing.until(*wanted) == set(wanted)


async def test_events_of_a_leaving_watch_are_told_however_late_its_thread_gets_its_turn(
    root: Path, hearing: Hearing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time of the old watch is over before its thread sees the event."""
    monkeypatch.setattr("memoranda.sync.watch_service.OVERLAP_S", 1e-9)
    old = FakeNotifier()
    async with watching(root, hearing, "", opener=Opener(fakes=[old])) as service:
        old.turn.clear()
        old.answers.put({(2, f"{root}/n.md")})
        await service.watch(["", "a"])
        old.turn.set()
        assert await hearing.until("n.md") == {"n.md"}


# --- the root ---------------------------------------------------------------------------------------


def make(folder: Path) -> None:
    folder.mkdir()


def replace(folder: Path) -> None:
    folder.rename(folder.with_name("old"))
    folder.mkdir()


async def test_a_removed_root_is_told_and_watched_when_it_is_back(
    root: Path, hearing: Hearing
) -> None:
    async with watching(root, hearing) as service:
        shutil.rmtree(root)
        await hearing.until("")
        assert not service.is_watching
        assert service.state.mode is WatchMode.POLLING
        assert service.state.reason == "the project's folder was moved or removed"
        assert service.state.running
        await service.watch([""])
        assert "No such file" in service.state.reason
        make(root)
        hearing.forget()
        await service.watch([""])
        assert hearing.batches == [{""}]
        assert (service.state.mode, service.state.reason) == (WatchMode.EVENTS, "")
        assert await told(root, hearing) == {""}


async def test_a_root_that_was_replaced_is_told_and_the_new_one_watched(
    root: Path, hearing: Hearing
) -> None:
    async with watching(root, hearing, "") as service:
        replace(root)
        await hearing.until("")
        hearing.forget()
        await service.watch([""])
        (root / "n.md").write_text("x")
        assert await told(root, hearing) == {"", "n.md"}


async def test_a_root_that_was_replaced_without_an_event_is_noticed_when_asked_to_watch(
    tmp_path: Path, hearing: Hearing
) -> None:
    root = tmp_path / "above/notes"
    root.mkdir(parents=True)
    async with watching(root, hearing, "") as service:
        root.parent.rename(tmp_path / "moved")
        root.mkdir(parents=True)
        await service.watch([""])
        (root / "n.md").write_text("x")
        assert "n.md" in await told(root, hearing)


async def test_paths_are_relative_to_a_root_that_is_a_link(root: Path, hearing: Hearing) -> None:
    link = root.with_name("link")
    link.symlink_to(root)
    other = root.with_name("other")
    other.mkdir()
    async with watching(link, hearing) as service:
        (root / "a/n.md").write_text("x")
        (link / "a/b/n.md").write_text("x")
        assert await told(root, hearing) == {"a/n.md", "a/b/n.md"}
        link.unlink()
        link.symlink_to(other)
        await service.watch([""])
        (other / "n.md").write_text("x")
        assert "n.md" in await told(other, hearing)


# --- what stands in the way -------------------------------------------------------------------------

TOO_MANY_FOLDERS = 'OS file watch limit reached. about ["/x"] (Error { kind: MaxFilesWatch })'
TOO_MANY_WATCHERS = "Error creating recommended watcher: Too many open files (os error 24)"


@pytest.mark.parametrize(
    ("problem", "hint"),
    [
        (OSError(TOO_MANY_FOLDERS), "fs.inotify.max_user_watches"),
        (RuntimeError(TOO_MANY_WATCHERS), "fs.inotify.max_user_instances"),
        (PermissionError("Permission denied (os error 13)"), "permission denied"),
        (RuntimeError("no such luck"), "no such luck"),
        (ImportError("no wheel"), "watchfiles"),
    ],
)
async def test_when_the_system_refuses_the_state_says_why_and_a_later_watch_works(
    problem: Exception, hint: str, root: Path, hearing: Hearing, warnings: list[str]
) -> None:
    opener = Opener(problems=[problem, problem])
    clock = HandClock()
    async with watching(root, hearing, opener=opener, clock=clock) as service:
        await service.watch([""])
        state = service.state
        assert (state.mode, state.running, service.is_watching) == (WatchMode.POLLING, True, False)
        assert hint in state.reason
        assert (state.error_count, state.last_error) == (1, state.reason)
        assert len(warnings) == 1
        assert state.reason in warnings[0]
        assert not hearing.batches
        await service.watch(["", "a"])
        assert (service.state.mode, service.state.reason) == (WatchMode.EVENTS, "")
        assert hearing.batches == [{""}]
        (root / "a/n.md").write_text("x")
        await hearing.until("a/n.md")


async def test_every_reason_is_logged_once_and_counted_each_time_it_comes(
    root: Path, hearing: Hearing, warnings: list[str]
) -> None:
    problems: list[Exception | None] = [RuntimeError(text) for text in ("one", "other", "one")]
    opener = Opener(problems=problems)
    async with watching(root, hearing, opener=opener, clock=HandClock()) as service:
        await service.watch([""])
        await service.watch([""])
        assert service.state.reason.endswith("one")
        assert service.state.error_count == 3
        assert len(warnings) == 2


async def test_when_two_watches_are_too_many_the_old_one_ends_before_the_new_one_begins(
    root: Path, hearing: Hearing
) -> None:
    first = FakeNotifier()
    clock = HandClock()
    opener = Opener(problems=[None, OSError(TOO_MANY_FOLDERS)], fakes=[first], clock=clock)
    async with watching(root, hearing, "", opener=opener, clock=clock) as service:
        await service.watch(["", "a"])
        assert first.is_closed
        assert service.state.mode is WatchMode.EVENTS
        assert hearing.batches == [{""}]
        await service.watch(["", "a", "a/b"])
        (root / "a/b/n.md").write_text("x")
        await hearing.until("a/b/n.md")


async def test_a_refusal_that_is_no_limit_is_not_tried_twice(root: Path, hearing: Hearing) -> None:
    opener = Opener(problems=[None, RuntimeError("no such luck")])
    async with watching(root, hearing, "", opener=opener) as service:
        await service.watch(["", "a"])
        assert not service.is_watching
        assert len(opener.opened) == 2


async def test_a_try_that_was_slow_to_fail_is_not_repeated_at_once(
    root: Path, hearing: Hearing
) -> None:
    clock = HandClock()
    problem = OSError(TOO_MANY_FOLDERS)
    opener = Opener(problems=[problem, problem], clock=clock)
    async with watching(root, hearing, opener=opener, clock=clock) as service:
        assert clock.time == 0.5
        clock.time = 50.4
        await service.watch([""])
        assert len(opener.opened) == 1
        assert service.state.mode is WatchMode.POLLING
        clock.time = 50.5
        await service.watch([""])
        assert len(opener.opened) == 2


async def test_a_folder_that_may_not_be_read_is_named_and_the_others_are_watched(
    root: Path, hearing: Hearing, monkeypatch: pytest.MonkeyPatch
) -> None:
    opener = Opener(problems=[PermissionError("Permission denied (os error 13)")])
    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).endswith("/a/b"))
    async with watching(root, hearing, opener=opener) as service:
        assert service.state.mode is WatchMode.EVENTS
        assert service.state.reason == "not watched, permission denied: a/b"
        (root / "a/n.md").write_text("x")
        await hearing.until("a/n.md")
        monkeypatch.undo()
        await service.watch(["", "a", "a/b"])
        assert service.state.reason == ""
        (root / "a/b/n.md").write_text("x")
        await hearing.until("a/b/n.md")


async def test_a_name_that_is_no_text_ends_events_but_not_the_watching(
    root: Path, hearing: Hearing
) -> None:
    """`watchfiles` gives up for good when such a name appears."""
    async with watching(root, hearing, "") as service:
        (root / os.fsdecode(b"bad\xff.md")).write_text("x")
        await hearing.until("")
        assert not service.is_watching
        assert service.state.reason.endswith("a file has a name that is not valid Unicode")
        assert service.state.error_count == 1
        await service.watch([""])
        hearing.forget()
        (root / "n.md").write_text("x")
        await hearing.until("n.md")


async def test_a_thread_that_dies_is_told_and_replaced_but_not_again_and_again(
    root: Path, hearing: Hearing
) -> None:
    clock = HandClock()
    fakes = [FakeNotifier(), FakeNotifier()]
    async with watching(
        root, hearing, "", opener=Opener(fakes=list(fakes)), clock=clock
    ) as service:
        fakes[0].answers.put(RuntimeError("inner trouble"))
        await hearing.until("")
        assert service.state.reason == "events came to an end: inner trouble"
        await service.watch([""])
        assert service.is_watching
        hearing.forget()
        clock.time = 9.0
        fakes[1].answers.put(KeyboardInterrupt())  # as a panic in Rust, no Exception
        await hearing.until("")
        await service.watch([""])
        assert not service.is_watching
        assert service.state.reason == "events came to an end: KeyboardInterrupt"
        clock.time = 39.0
        await service.watch([""])
        assert service.is_watching


async def test_a_burst_is_told_as_everything_and_leaves_little_behind(
    root: Path, hearing: Hearing
) -> None:
    fake = FakeNotifier()
    async with watching(root, hearing, "", opener=Opener(fakes=[fake])) as service:
        fake.answers.put({(1, f"{root}/{number}.md") for number in range(50_000)})
        await hearing.until("")
        assert hearing.batches == [{""}]
        hearing.forget()
        fake.answers.put({(1, f"{root}/{number:03}.md") for number in range(300)})
        await hearing.until("299.md")
        assert len(hearing.paths) == 300
        recent = [event.path for event in service.state.recent_events]
        assert recent == [f"{number:03}.md" for number in range(200, 300)]
        assert len(recent) == RECENT_EVENTS


# --- the plan ---------------------------------------------------------------------------------------


async def test_nothing_is_watched_when_it_is_switched_off(root: Path, hearing: Hearing) -> None:
    opener = Opener()
    async with watching(root, hearing, plan=WatchPlan(WatchMode.OFF), opener=opener) as service:
        assert service.state.mode is WatchMode.OFF
        assert "configuration" in service.state.reason
        assert not service.state.running
        assert opener.opened == []


async def test_a_folder_that_is_to_be_polled_is_not_watched_and_that_is_no_failure(
    root: Path, hearing: Hearing
) -> None:
    opener = Opener()
    async with watching(root, hearing, plan=WatchPlan(WatchMode.POLLING), opener=opener) as service:
        assert service.state.mode is WatchMode.POLLING
        assert service.state.running
        assert service.state.error_count == 0
        assert "configuration" in service.state.reason
        assert opener.opened == []


@pytest.fixture
def network_drive(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The system says that the project's folder is on one."""
    table = root.with_name("mounts")
    put_drive(table, root)
    monkeypatch.setattr("memoranda.files.mounts._MOUNTS", table)
    return table


def put_drive(table: Path, folder: Path) -> None:
    real = os.path.realpath(folder)
    table.write_text(f"1 0 0:1 / / rw - ext4 x rw\n2 1 0:2 / {real} rw - nfs4 nas:/ rw\n")


async def test_a_network_drive_is_polled_unless_events_are_asked_for(
    network_drive: Path, root: Path, hearing: Hearing
) -> None:
    async with watching(root, hearing) as service:
        assert service.state.mode is WatchMode.POLLING
        assert "nfs4" in service.state.reason
        assert str(root) in service.state.reason
        assert service.state.error_count == 0
    async with watching(root, hearing, plan=WatchPlan(WatchMode.EVENTS)) as service:
        assert service.state.mode is WatchMode.EVENTS


async def test_a_network_drive_inside_the_folder_is_named(
    network_drive: Path, root: Path, hearing: Hearing
) -> None:
    put_drive(network_drive, root / "a/b")
    async with watching(root, hearing) as service:
        assert service.state.mode is WatchMode.EVENTS
        assert "a/b" in service.state.reason


async def test_a_system_that_watches_whole_trees_needs_no_new_watch_for_a_new_folder(
    root: Path, hearing: Hearing
) -> None:
    (root / ".git").mkdir()
    opener = Opener()
    async with watching(root, hearing, opener=opener, recursive=True) as service:
        (root / ".git/x.md").write_text("x")
        (root / "a/b/n.md").write_text("x")
        assert await told(root, hearing) == {"a/b/n.md"}
        (root / "new").mkdir()
        assert await told(root, hearing) == {"new"}
        await service.watch(["", "a", "a/b", "new"])
        (root / "new").rmdir()
        assert await told(root, hearing) == {"", "new"}
        assert opener.opened == [[str(root)]]


# --- begin and end ----------------------------------------------------------------------------------


async def test_nothing_is_told_after_stop_and_watching_can_begin_again(
    root: Path, hearing: Hearing
) -> None:
    async with watching(root, hearing, "") as service:
        (root / "1.md").write_text("x")
        await service.stop()
        await service.stop()
        assert not service.is_watching
        assert not service.state.running
        hearing.forget()
        (root / "2.md").write_text("x")
        await service.watch([""])
        assert service.state.running
        assert await told(root, hearing) == set()


async def test_stop_lets_go_of_what_the_system_holds_for_us(root: Path, hearing: Hearing) -> None:
    fakes = [FakeNotifier(), FakeNotifier()]
    async with watching(root, hearing, "", opener=Opener(fakes=list(fakes))) as service:
        await service.watch(["", "a"])  # the first one goes on telling for a moment
        await service.stop()
        assert [fake.is_closed for fake in fakes] == [True, True]


async def test_a_stop_while_a_watch_is_being_opened_wins(root: Path, hearing: Hearing) -> None:
    begun, go_on = threading.Event(), threading.Event()
    fake = FakeNotifier()

    def opener(paths: object, *, recursive: bool) -> FakeNotifier:
        begun.set()
        go_on.wait(DEADLINE_S)
        return fake

    service = WatchService(
        root, (), WatchPlan(), SystemClock(), hearing, open_notifier=opener, recursive=False
    )
    opening = asyncio.create_task(service.watch([""]))
    assert await asyncio.to_thread(begun.wait, DEADLINE_S)
    await service.stop()
    go_on.set()
    await opening
    assert fake.is_closed
    assert not service.is_watching


async def test_the_state_counts_syncs_and_failures(root: Path, hearing: Hearing) -> None:
    clock = HandClock(5.0)
    async with watching(root, hearing, clock=clock) as service:
        service.synced(3)
        service.synced(2)
        clock.time = 7.0
        service.failed("the disk is full")
        state = service.state
        assert (state.mode, state.running, state.folders) == (WatchMode.EVENTS, True, 3)
        assert (state.synced_files, state.error_count) == (5, 1)
        assert (state.last_error, state.last_error_at) == ("the disk is full", clock.now())
        assert state.start_time == HandClock(5.0).now()


def test_a_watch_whose_event_loop_is_gone_ends_without_a_word(root: Path) -> None:
    async def leave_it() -> None:
        service = WatchService(root, (), WatchPlan(), SystemClock(), lambda _: None)
        await service.watch([""])
        threads.extend(watch_threads())

    threads: list[threading.Thread] = []
    asyncio.run(leave_it())
    (root / "n.md").write_text("x")
    for thread in threads:
        thread.join(DEADLINE_S)
        assert not thread.is_alive()


def test_a_process_ends_at_once_though_nobody_stopped_the_watch(root: Path) -> None:
    script = f"""
import asyncio, sys
from pathlib import Path
from memoranda.files.clock import SystemClock
from memoranda.model.live import WatchPlan
from memoranda.sync.watch_service import WatchService
assert "watchfiles" not in sys.modules  # start-up time is a feature
service = WatchService(Path({str(root)!r}), (), WatchPlan(), SystemClock(), print)
asyncio.run(service.watch([""]))
assert "watchfiles" in sys.modules
assert service.is_watching
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=DEADLINE_S
    )
    assert (done.returncode, done.stderr) == (0, "")


def watch_threads() -> set[threading.Thread]:
    return {one for one in threading.enumerate() if one.name == "memoranda watch"}
