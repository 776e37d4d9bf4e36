"""The token: nothing but the token opens, it is told to nobody, and a file that others can read is none."""

from __future__ import annotations

import hmac
import json
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.http.attacks import SECRET, answer_to, assert_quiet, assert_serves, head, logged, post
from tests.http.conftest import TOKEN, Serve, initialize

from memoranda.cli.main import run
from memoranda.config import http_token_file
from memoranda.errors import ConfigProblem, InvalidArgument, MemorandaError
from memoranda.http import prepared as preparing
from memoranda.http import tokens
from memoranda.http.plan import Asked, ServePlan
from memoranda.http.tokens import Token, configured_token, make_token, read_token

CALL = json.dumps(initialize()).encode()
# Further headers of a request that sends no token otherwise.
WRONG: dict[str, tuple[str | bytes, ...]] = {
    "nothing": (),
    "empty": ("authorization:",),
    "the scheme alone": ("authorization: Bearer",),
    "the scheme and a space": (b"authorization: Bearer ",),
    "another": (f"authorization: Bearer {SECRET}-{'x' * 32}",),
    "all but its end": (f"authorization: Bearer {TOKEN[:-1]}",),
    "its beginning": (f"authorization: Bearer {TOKEN[0]}",),
    "one more": (f"authorization: Bearer {TOKEN}x",),
    "padded": (f"authorization: Bearer {TOKEN}=",),
    "a zero behind it": (b"authorization: Bearer " + TOKEN.encode() + b"\xa0x",),
    "upper case": (f"authorization: Bearer {TOKEN.upper()}",),
    "quoted": (f'authorization: Bearer "{TOKEN}"',),
    "a pattern": ("authorization: Bearer *",),
    "without scheme": (f"authorization: {TOKEN}",),
    "another scheme": (f"authorization: Basic {TOKEN}",),
    "a longer scheme": (f"authorization: Bearerx {TOKEN}",),
    "scheme twice": (f"authorization: Bearer Bearer {TOKEN}",),
    "twice in one": (f"authorization: Bearer {TOKEN}, Bearer {TOKEN}",),
    "twice": (f"authorization: Bearer {TOKEN}",) * 2,
    "a wrong one as well": (f"authorization: Bearer {TOKEN}", f"authorization: Bearer {SECRET}"),
    "a wrong one before": (f"authorization: Bearer {SECRET}", f"authorization: Bearer {TOKEN}"),
    "bytes": (b"authorization: Bearer \xff\xfe\xc3\xa9",),
    "huge": (f"authorization: Bearer {SECRET * 1500}",),
    "for a proxy": (f"proxy-authorization: Bearer {TOKEN}",),
    "other headers": (f"x-api-key: {TOKEN}", f"x-authorization: Bearer {TOKEN}"),
    "a cookie": (f"cookie: token={TOKEN}; authorization=Bearer {TOKEN}",),
}


def without_token(data: bytes) -> bytes:
    """A request as `head` makes it, less the right token."""
    return data.replace(f"authorization: Bearer {TOKEN}\r\n".encode(), b"", 1)


async def test_nothing_but_the_token_opens(serving: Serve, tmp_path: Path) -> None:
    with logged(tmp_path) as log:
        async with serving(ServePlan(token=TOKEN)) as served:
            for name, lines in WRONG.items():
                line = f"content-length: {len(CALL)}"
                start = without_token(head(served, "POST", None, line)).removesuffix(b"\r\n")
                more = (each if isinstance(each, bytes) else each.encode() for each in lines)
                asked = start + b"".join(each + b"\r\n" for each in more) + b"\r\n" + CALL
                answer = await answer_to(served, asked)
                assert (name, answer.status) == (name, 401)
                assert answer.headers["www-authenticate"].startswith("Bearer ")
                assert SECRET.encode() not in answer.body
                assert TOKEN.encode() not in answer.body
            await assert_serves(served)
            assert_quiet(log, served)


async def test_the_token_does_not_count_in_an_address(serving: Serve, tmp_path: Path) -> None:
    with logged(tmp_path) as log:
        async with serving(ServePlan(token=TOKEN)) as served:
            for target, status in (
                (f"/mcp?token={TOKEN}", 401),
                (f"/mcp?access_token={TOKEN}&authorization=Bearer%20{TOKEN}", 401),
                (f"/mcp/{TOKEN}", 404),
                (f"/{TOKEN}/mcp", 404),
                (f"http://x:{TOKEN}@127.0.0.1/mcp", 404),
            ):
                asked = without_token(head(served, "POST", target, "content-length: 0"))
                answer = await answer_to(served, asked)
                assert (target, answer.status) == (target, status)
                assert TOKEN.encode() not in answer.body
            assert_quiet(log, served)


async def test_every_method_and_session_needs_the_token(serving: Serve) -> None:
    async with serving(ServePlan(token=TOKEN)) as served:
        opened = await answer_to(served, post(served, CALL))
        session = f"mcp-session-id: {opened.headers['mcp-session-id']}"
        for method in ("GET", "POST", "DELETE"):
            for lines in ((), (session,), (session, "mcp-protocol-version: 2026-07-28")):
                asked = without_token(head(served, method, None, "content-length: 0", *lines))
                assert (await answer_to(served, asked)).status == 401
        # All were refused: the session is still there.
        assert (await answer_to(served, head(served, "DELETE", None, session))).status == 200


async def test_health_needs_no_token_and_says_nothing(serving: Serve) -> None:
    async with serving(ServePlan(token=TOKEN)) as served:
        answer = await answer_to(served, without_token(head(served, "GET", f"/health?{SECRET}")))
    assert (answer.status, json.loads(answer.body)) == (200, {"status": "ok"})


@pytest.mark.parametrize("given", ["", "x", TOKEN[:-1], TOKEN, TOKEN + "x", "y" * 30_000])
def test_every_token_is_compared_in_constant_time(
    given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[tuple[int, int]] = []

    def compare(left: bytes, right: bytes) -> bool:
        compared.append((len(left), len(right)))
        return hmac_compare(left, right)

    hmac_compare = hmac.compare_digest
    token = Token(TOKEN)
    monkeypatch.setattr(tokens.hmac, "compare_digest", compare)
    assert token.matches(given.encode()) is (given == TOKEN)
    assert compared == [(32, 32)]


def test_a_token_does_not_show() -> None:
    token = Token(TOKEN)
    shown = [repr(token), str(token), repr(vars(token)), repr(ServePlan(token=TOKEN))]
    assert not [text for text in shown if TOKEN in text]


def test_no_command_prints_it_but_the_one_for_it(
    project_root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BASIC_MEMORY_HTTP_TOKEN", TOKEN)
    file = http_token_file()
    in_file = make_token(file)
    for command in (
        ["config", "show"],
        ["doctor"],
        ["status"],
        ["token"],
        ["config", "show", "--json"],
    ):
        run(command)
        told = "".join(capsys.readouterr())
        assert told
        assert TOKEN not in told
        assert in_file not in told
    assert (file.stat().st_mode & 0o777, file.read_text("ascii")) == (0o600, f"{in_file}\n")


def test_a_token_cannot_be_given_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Others see the command lines of a machine, and shells keep them."""
    for command in ("serve", "token"):
        assert run([command, f"--token={TOKEN}"]) == 2
        assert TOKEN not in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    "value", ["", " ", "short", "x" * 31, f"{SECRET}{'x' * 32} y", "ä" * 40, "x" * 2000, "\t"]
)
def test_a_variable_that_is_no_token_is_not_no_token(
    value: str, project_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BASIC_MEMORY_HTTP_TOKEN", value)
    with pytest.raises(ConfigProblem) as caught:
        configured_token()
    assert SECRET not in f"{caught.value!r} {caught.value} {caught.value.hint}"


def change_owner(file: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only the system's administrator can")
    os.chown(file, 12_345, -1)


SPOILT: dict[str, Callable[[Path], object]] = {
    "others may read": lambda file: file.chmod(0o604),
    "the group may read": lambda file: file.chmod(0o640),
    "the group may write": lambda file: file.chmod(0o620),
    "all may run it": lambda file: file.chmod(0o711),
    "another's": change_owner,
    "a folder": lambda file: (file.unlink(), file.mkdir(mode=0o700)),
    "a pipe": lambda file: (file.unlink(), os.mkfifo(file, 0o600)),
    "a socket": lambda file: (file.unlink(), socket.socket(socket.AF_UNIX).bind(str(file))),
    "a device": lambda file: (file.unlink(), file.symlink_to("/dev/zero")),
    "a link to what others may read": lambda file: (
        file.chmod(0o644),
        file.rename(file.with_name("other")),
        file.symlink_to("other"),
    ),
    "a link in a ring": lambda file: (file.unlink(), file.symlink_to(file.name)),
    "empty": lambda file: file.write_bytes(b""),
    "blank": lambda file: file.write_bytes(b"\n\n"),
    "short": lambda file: file.write_bytes(b"x" * 31),
    "two lines": lambda file: file.write_bytes(f"{TOKEN}\n{SECRET}\n".encode()),
    "two words": lambda file: file.write_bytes(f"{TOKEN} {SECRET}".encode()),
    "a byte order mark": lambda file: file.write_bytes(b"\xef\xbb\xbf" + TOKEN.encode()),
    "sixteen bits": lambda file: file.write_bytes(TOKEN.encode("utf-16")),
    "a zero": lambda file: file.write_bytes(TOKEN.encode() + b"\0"),
    "large": lambda file: file.write_bytes(b"x" * 1_000_000),
}


@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
@pytest.mark.parametrize("how", SPOILT)
def test_a_file_that_others_can_read_or_that_holds_no_token_is_refused(
    how: str, tmp_path: Path
) -> None:
    file = tmp_path / "t"
    make_token(file)
    text = file.read_text("ascii").strip()
    SPOILT[how](file)
    with pytest.raises(ConfigProblem) as caught:
        configured_token(str(file))
    told = f"{caught.value!r} {caught.value} {caught.value.hint}"
    assert str(file) in told
    assert ("is not a file" in told) == (how in {"a folder", "a pipe", "a device"})
    assert [secret for secret in (text, TOKEN, SECRET) if secret in told] == []


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b" \n"])
def test_how_a_line_ends_does_not_matter(end: bytes, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.touch(0o600)
    file.write_bytes(TOKEN.encode() + end)
    assert read_token(file) == TOKEN


def test_a_file_that_is_named_must_be_there(project_root: Path, tmp_path: Path) -> None:
    assert configured_token() is None
    for file in (tmp_path / "missing", tmp_path / "no folder/token"):
        with pytest.raises(ConfigProblem, match="not there"):
            configured_token(str(file))


ELSEWHERE = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.5", 0))]
HERE = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 0))]


def refused_by(monkeypatch: pytest.MonkeyPatch, host: str) -> MemorandaError | None:
    """What `serve` ends with before it takes a port; None: it would have taken one."""

    class Listening(Exception):
        pass

    def listen(*_: object) -> None:
        raise Listening

    monkeypatch.setattr(preparing, "listen", listen)
    try:
        preparing.prepared(Asked(host=host))
    except Listening:
        return None
    except MemorandaError as error:
        return error
    raise AssertionError("it served")


@pytest.mark.parametrize("host", ["0.0.0.0", "0", "::", "[::]", "::ffff:0.0.0.0", "10.0.0.5"])
def test_where_others_reach_it_it_does_not_listen_without_a_token(
    host: str, project_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = refused_by(monkeypatch, host)
    assert isinstance(error, InvalidArgument)
    assert "memoranda token" in error.hint
    monkeypatch.setenv("BASIC_MEMORY_HTTP_TOKEN", TOKEN)
    assert refused_by(monkeypatch, host) is None


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "localhost", "::1", "[::1]"])
def test_on_this_machine_it_needs_none(
    host: str, project_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert refused_by(monkeypatch, host) is None


@pytest.mark.parametrize("found", [ELSEWHERE, HERE + ELSEWHERE])
@pytest.mark.parametrize("host", ["localhost", "home.example.org"])
def test_where_a_name_leads_counts_not_the_name(
    host: str,
    found: list[tuple[object, ...]],
    project_root: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    assert isinstance(refused_by(monkeypatch, host), InvalidArgument)


def test_the_command_says_so_and_ends(
    project_root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["serve", "--host", "0.0.0.0", "--port", "0"]) != 0
    told = capsys.readouterr()
    assert "memoranda token" in told.err
    assert told.out == ""
