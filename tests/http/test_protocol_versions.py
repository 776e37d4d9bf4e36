"""Every version of the protocol that clients speak, and what is answered to one that nobody speaks."""

from __future__ import annotations

import json

import pytest
from mcp.client.client import Client
from tests.http.by_hand import HANDSHAKES, MODERN, Hand, Reply, reply_of
from tests.http.conftest import Serve, initialize

from mcp import MCPError
from memoranda.mcp.table import TOOLS

VERSIONS = (*HANDSHAKES, MODERN)
NO_SUCH_METHOD = -32601
UNKNOWN_VERSION = -32022
WRONG_HEADER = -32020


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_client_of_each_version_writes_reads_and_is_told_its_mistakes(
    serving: Serve, version: str
) -> None:
    async with serving() as served, served.web() as web:
        hand = Hand(web, served.plan.path, version)
        hello = (await hand.greet()).result
        assert hello.get("protocolVersion", hello.get("supportedVersions")) in (version, [version])
        assert hello["capabilities"]["tools"] == {"listChanged": False}
        assert "Memoranda" in str(hello)

        listed = (await hand.ask("tools/list")).result["tools"]
        assert [tool["name"] for tool in listed] == [tool.name for tool in TOOLS]

        assert "Created Pier" in (await hand.call("write_note", title="Pier", content="steel")).text
        assert "steel" in (await hand.call("read_note", path="pier")).text
        uri = "memory://pier"
        (content,) = (await hand.ask("resources/read", uri=uri)).result["contents"]
        assert "steel" in content["text"]

        missing = await hand.call("read_note", path="nothing")
        assert missing.status == 200
        assert missing.result["isError"]
        assert missing.text.startswith("NOTE_NOT_FOUND")
        unknown = await hand.call("no_such_tool")
        assert unknown.result["isError"]
        assert "There is no tool 'no_such_tool'" in unknown.text
        nonsense = await hand.ask("no/such/method")
        assert nonsense.error["code"] == NO_SUCH_METHOD
        assert nonsense.status == (404 if version == MODERN else 200)

        history = (await served.session.workspace(None)).history
        assert [change.author.client for change in history.changes()] == ["by-hand"]


@pytest.mark.parametrize(("mode", "version"), [("legacy", HANDSHAKES[-1]), ("auto", MODERN)])
async def test_the_client_of_the_sdk_agrees_on_a_version(
    serving: Serve, mode: str, version: str
) -> None:
    async with serving() as served, Client(served.url, mode=mode) as client:
        assert client.protocol_version == version
        await client.call_tool("write_note", {"title": "Pier", "content": "steel"})
        found = await client.call_tool("search_notes", {"query": "steel"})
        assert "Pier — pier" in found.content[0].text
        assert (await client.call_tool("read_note", {"path": "nothing"})).is_error
        with pytest.raises(MCPError, match="NOTE_NOT_FOUND"):
            await client.read_resource("memory://nothing")


async def test_who_asks_for_another_version_by_handshake_is_offered_the_newest_there_is(
    serving: Serve,
) -> None:
    async with serving() as served, served.web() as web:
        for version in ("1999-01-01", "2027-01-01", MODERN, "no version", ""):
            answer = await web.post(served.url, json=initialize(version))
            assert answer.status_code == 200
            assert reply_of(answer).result["protocolVersion"] == HANDSHAKES[-1]


async def test_a_request_of_a_version_that_is_not_spoken_is_told_which_are(serving: Serve) -> None:
    async with serving() as served, served.web() as web:
        for version in ("2027-01-01", "no version"):
            hand = Hand(web, served.plan.path, MODERN)
            request = hand.request("tools/call", name="write_note", arguments={"title": "N"})
            request["headers"]["mcp-protocol-version"] = version
            meta = request["json"]["params"]["_meta"]
            meta["io.modelcontextprotocol/protocolVersion"] = version
            refused = reply_of(await web.post(served.url, **request))
            assert refused.status == 400
            assert refused.error["code"] == UNKNOWN_VERSION
            assert refused.error["data"] == {"supported": [MODERN], "requested": version}
            assert refused.message["id"] == request["json"]["id"]


async def test_a_header_that_says_otherwise_than_the_body_is_refused(serving: Serve) -> None:
    async with serving() as served, served.web() as web:
        for header in ("mcp-name", "mcp-method"):
            request = Hand(web, served.plan.path, MODERN).request(
                "tools/call", name="write_note", arguments={"title": "N", "content": "text"}
            )
            request["headers"][header] = "read_note"
            refused = reply_of(await web.post(served.url, **request))
            assert (refused.status, refused.error["code"]) == (400, WRONG_HEADER)
        assert not list(served.root.glob("*.md"))


@pytest.mark.parametrize("version", [HANDSHAKES[0], HANDSHAKES[-1], MODERN])
async def test_what_json_can_hold_and_the_sdk_cannot_read_is_answered_all_the_same(
    serving: Serve, version: str
) -> None:
    async with serving() as served, served.web() as web:
        hand = Hand(web, served.plan.path, version)
        await hand.greet()

        async def ask(path: bytes) -> Reply:
            request = hand.request("tools/call", name="read_note", arguments={"path": "PATH"})
            body = json.dumps(request["json"]).encode().replace(b'"PATH"', path)
            answer = await web.post(served.url, content=body, headers=request["headers"])
            reply = reply_of(answer)
            assert reply.message["id"] == request["json"]["id"]
            return reply

        half_of_a_pair = await ask(rb'"a\ud83d"')
        assert half_of_a_pair.text.startswith("NOTE_NOT_FOUND: There is no note 'a\ufffd'")
        nested_too_deep = await ask(b"[" * 5000 + b"]" * 5000)
        assert nested_too_deep.error["code"] < 0
        assert not (await hand.call("list_directory")).result["isError"]
