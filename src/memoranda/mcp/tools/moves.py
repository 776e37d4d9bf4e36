"""The tool that moves notes and folders."""

from __future__ import annotations

from typing import Any

from memoranda.files.local_names import local_name
from memoranda.mcp.client import author
from memoranda.mcp.declarations import NOTE_ALIASES, PROJECT, Answer, Declaration
from memoranda.mcp.parameters import Kind, Param
from memoranda.mcp.session import Session
from memoranda.mcp.standing import looking_up, standing
from memoranda.model.toolset import Toolset
from memoranda.render.moves import move_data, move_text


async def move_note(session: Session, values: dict[str, Any]) -> Answer:
    """Move a note or a folder within its project, and keep the links to it."""
    workspace = await session.fresh_workspace(values["project"], values["path"])
    root = workspace.project.path
    source = local_name(values["path"], root)
    destination = local_name(values["destination"], root, parameter="destination")
    with looking_up(workspace):
        result = await workspace.moves.move(
            source, destination, dry_run=values["dry_run"], by=author()
        )
    now = standing(workspace)
    return Answer(lambda: now.below(move_text(result)), lambda: move_data(result) | now.data)


DECLARATIONS = (
    Declaration(
        name="move_note",
        title="Move note",
        description=(
            "Move or rename a note or a folder inside its project. Links that would break are "
            "rewritten, all others stay as they are; the answer lists them."
        ),
        params=(
            Param(
                "path",
                description="Permalink, file path or memory:// address; or a folder.",
                required=True,
                aliases=(*NOTE_ALIASES, "source", "from"),
            ),
            Param(
                "destination",
                description="New path such as archive/plan.md; a folder with / at its end.",
                required=True,
                aliases=("to", "target", "new_path", "destination_path"),
            ),
            Param(
                "dry_run",
                Kind.BOOLEAN,
                description="Only say what the move would do.",
                default=False,
            ),
            PROJECT,
        ),
        run=move_note,
        toolset=Toolset.NOTES,
        destructive=True,
    ),
)
