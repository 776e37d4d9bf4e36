"""What a person must do by hand, where no file of the client can do it. Pure."""

from __future__ import annotations

from memoranda.cli.clients.places import Client

_EXAMPLE_URL = "https://notes.example.org/mcp"


def is_public(url: str) -> bool:
    """Whether the address is one that a service elsewhere could call: HTTPS."""
    return url.lower().startswith("https://")


def steps_for(client: Client, url: str | None) -> list[str]:
    """The steps, in order; commands stand in backquotes.

    Args:
        client: Claude Desktop, which takes a URL in its settings alone, or ChatGPT.
        url: where the server answers from outside, None when it is not known yet.
    """
    address = url if url and is_public(url) else _EXAMPLE_URL
    host = address.partition("//")[2].partition("/")[0].rpartition("@")[2]
    front = (
        f"Put a reverse proxy with HTTPS in front, reached from the internet as {address}. "
        "It must let only you in (sign-in by OAuth), and send the server the header "
        "`Authorization: Bearer TOKEN`, since {title} has no place for a token. "
        "Never leave it open: whoever finds the address could read your notes."
    )
    if client is Client.CHATGPT:
        return [
            'Let the server offer the tools that ChatGPT asks for: put `"toolsets": ["notes", '
            '"chatgpt"]` into config.json; `memoranda config show` says where that is.',
            "Make a token: `memoranda token`.",
            f"Start the server: `memoranda serve --read-only --allow-host {host}`.",
            front.format(title="ChatGPT"),
            "In ChatGPT, in the browser: Settings, Apps, Advanced settings, switch Developer mode on.",
            f"Settings, Apps, Create app: any name, MCP server URL {address}, Authentication OAuth "
            "as your proxy has it.",
            "In a new chat: +, More, Developer mode, and choose the app.",
        ]
    return [
        "Make a token: `memoranda token`.",
        f"Start the server: `memoranda serve --allow-host {host}`.",
        front.format(title="Claude Desktop"),
        f"In Claude Desktop: Settings, Connectors, Add custom connector: any name, URL {address}.",
    ]


def why_not_written(client: Client) -> str:
    """Why `--write` can do nothing there, one sentence without a full stop."""
    if client is Client.CHATGPT:
        return "ChatGPT keeps its apps in your account, not in a file"
    return "Claude Desktop takes a URL in its settings alone: in its file it would be ignored"
