"""What a person must do by hand, where no file of the client can do it. Pure."""

from __future__ import annotations

from urllib.parse import urlsplit

from memoranda.cli.clients.places import Client, kind_of

_EXAMPLE_URL = "https://notes.example.org/mcp"


def steps_for(client: Client, url: str | None) -> list[str]:
    """The steps, in order; commands stand in backquotes.

    Args:
        client: Claude Desktop, which takes a URL in its settings alone, or ChatGPT.
        url: where the server answers from outside; one that is not HTTPS is not that.
    """
    is_known = url is not None and url.lower().startswith("https://")
    address = url if url and is_known else _EXAMPLE_URL
    host, title = urlsplit(address).hostname or "", kind_of(client).title
    host = f"[{host}]" if ":" in host else host
    begin = [] if is_known else [f"Choose a public HTTPS address; in these steps it is {address}."]
    front = (
        f"Put a reverse proxy with HTTPS in front, reached from the internet as {address}. "
        "It must let only you in (sign-in by OAuth), and send the server the header "
        f"`Authorization: Bearer TOKEN`, since {title} has no place for a token. "
        "Never leave it open: whoever finds the address could read your notes."
    )
    if client is Client.CHATGPT:
        return [
            *begin,
            'Let the server offer the tools that ChatGPT asks for: put `"toolsets": ["notes", '
            '"chatgpt"]` into config.json; `memoranda config show` says where that is.',
            "Make a token: `memoranda token`.",
            f"Start the server: `memoranda serve --read-only --allow-host {host}`.",
            front,
            "In ChatGPT, in the browser: Settings, Apps, Advanced settings, switch Developer mode on.",
            f"Settings, Apps, Create app: any name, MCP server URL {address}, Authentication OAuth "
            "as your proxy has it.",
            "In a new chat: +, More, Developer mode, and choose the app.",
        ]
    return [
        *begin,
        "Make a token: `memoranda token`.",
        f"Start the server: `memoranda serve --allow-host {host}`.",
        front,
        f"In Claude Desktop: Settings, Connectors, Add custom connector: any name, URL {address}.",
    ]


def why_not_written(client: Client) -> str:
    """Why `--write` can do nothing there, one sentence without a full stop."""
    if client is Client.CHATGPT:
        return "ChatGPT keeps its apps in your account, not in a file"
    return "Claude Desktop takes a URL in its settings alone: in its file it would be ignored"
