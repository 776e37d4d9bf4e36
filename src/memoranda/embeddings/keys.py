"""The key of an embedding endpoint: from the environment or the system's keyring, never from a file of ours."""

from __future__ import annotations

import importlib.util
from urllib.parse import urlsplit

from memoranda.config import endpoint_key

KEYRING_SERVICE = "memoranda"
KEY_HINT = (
    "Set BASIC_MEMORY_SEMANTIC_API_KEY (for OpenAI also OPENAI_API_KEY) in the environment of the program "
    "that starts Memoranda."
)


def find_key(base_url: str) -> str:
    """The key for an endpoint, "" when there is none. May ask the system's keyring, so call it in a thread.

    The keyring is asked only if the library `keyring` is installed, for the service "memoranda" and the
    endpoint's host as the user, and never for this machine's own addresses, which need no key.
    """
    from memoranda.embeddings.endpoint import is_local

    host = urlsplit(base_url).hostname or ""
    key = endpoint_key(host)
    return key if key or is_local(base_url) else _from_keyring(host).strip()


def _from_keyring(host: str) -> str:
    if importlib.util.find_spec("keyring") is None:
        return ""
    try:
        import keyring  # type: ignore[import-not-found,unused-ignore]

        return keyring.get_password(KEYRING_SERVICE, host) or ""
    except Exception as error:  # noqa: BLE001  (no back end, locked, no desktop: there is no key then)
        from loguru import logger

        logger.debug("The keyring gave no key for {}: {}", host, type(error).__name__)
        return ""
