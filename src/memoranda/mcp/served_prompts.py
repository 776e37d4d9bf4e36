"""The prompts as FastMCP serves them."""

from __future__ import annotations

from typing import Any

from fastmcp import FastMCP
from fastmcp.prompts.base import Message, Prompt, PromptArgument, PromptResult
from pydantic import PrivateAttr

from memoranda.mcp.arguments import parse
from memoranda.mcp.client import acting
from memoranda.mcp.prompts import PROMPTS, PromptDeclaration
from memoranda.mcp.refusal import answered, sendable
from memoranda.mcp.served_tools import asking_client
from memoranda.mcp.session import Session


def add_prompts(server: FastMCP, session: Session) -> None:
    """Add all prompts."""
    for declaration in PROMPTS:
        server.add_prompt(_prompt(declaration, session))


def _prompt(declaration: PromptDeclaration, session: Session) -> Prompt:
    prompt = _ServedPrompt(
        name=declaration.name,
        title=declaration.title,
        description=declaration.description,
        arguments=[
            PromptArgument(name=param.name, description=param.description, required=param.required)
            for param in declaration.params
        ],
    )
    prompt.bind(declaration, session)
    return prompt


class _ServedPrompt(Prompt):
    """A declaration under FastMCP. Arguments arrive here as the client sent them."""

    _declaration: PromptDeclaration = PrivateAttr()
    _session: Session = PrivateAttr()

    def bind(self, declaration: PromptDeclaration, session: Session) -> None:
        self._declaration, self._session = declaration, session

    def get_meta(self) -> dict[str, Any]:
        return {}  # FastMCP's own are of no use to a client

    async def render(self, arguments: dict[str, Any] | None = None) -> PromptResult:
        declaration, session = self._declaration, self._session

        async def rendered() -> str:
            values = parse(declaration.params, arguments or {})
            return await declaration.run(session, values)

        with acting(asking_client(), f"prompt {declaration.name}"):
            text = await answered(session, f"prompt {declaration.name}", rendered)
        return PromptResult([Message(sendable(text))], description=declaration.description)
