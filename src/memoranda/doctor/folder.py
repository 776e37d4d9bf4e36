"""A project's folder: is it there, can all of it be read, can tools write."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from memoranda.doctor.words import command, counted, some
from memoranda.errors import RootMissing
from memoranda.files.scan import scan_folder
from memoranda.model.health import Check, ok, problem, warning
from memoranda.model.project import Project
from memoranda.model.sync import Scan, SkipCause


@dataclass(frozen=True, slots=True)
class FolderFacts:
    """What was found of the folder.

    Attributes:
        is_switched_off: the user said so.
        trouble: why it cannot be looked at, with `way_on`.
        notes, folders: how many are in it.
        unreadable: paths that may hold notes and cannot be read.
        bad_rules: ignore files that are not used whole.
    """

    project: Project
    is_switched_off: bool = False
    trouble: str = ""
    way_on: str = ""
    notes: int = 0
    folders: int = 0
    unreadable: Sequence[str] = ()
    bad_rules: Sequence[str] = ()
    is_writable: bool = True


def look(project: Project, *, is_switched_off: bool = False) -> tuple[FolderFacts, Scan | None]:
    """Look at the folder of a project; there is no scan of one that is not served or not there."""
    if not project.is_active:
        return FolderFacts(project, is_switched_off), None
    try:
        scan = scan_folder(project.path, skips=project.skips)
    except RootMissing as error:
        return FolderFacts(project, trouble=error.message, way_on=error.hint), None
    skipped = {
        cause: tuple(one.path for one in scan.skipped if one.cause is cause) for cause in SkipCause
    }
    facts = FolderFacts(
        project,
        notes=len(scan.files),
        folders=len(scan.folders),
        unreadable=skipped[SkipCause.UNREADABLE],
        bad_rules=skipped[SkipCause.RULE],
        is_writable=os.access(project.path, os.W_OK | os.X_OK),
    )
    return facts, scan


def judge(facts: FolderFacts) -> list[Check]:
    """The checks of the folder."""
    project = facts.project
    if facts.is_switched_off:
        return [ok("folder", f"{project.path}; {project.disabled}")]
    if project.disabled:
        return [
            warning(
                "folder",
                f"it is not served: {project.disabled}",
                f"Change the configuration, or take it out: {command('project', 'remove', project.name)}.",
            )
        ]
    if facts.trouble:
        return [problem("folder", facts.trouble, facts.way_on)]
    inner = f"; left out as projects of their own: {some(project.skips)}" if project.skips else ""
    checks = [ok("folder", f"{project.path} has {counted(facts.notes, 'note')}{inner}")]
    if facts.unreadable:
        checks.append(
            warning(
                "unreadable",
                f"cannot be read: {some(facts.unreadable)}",
                "Check the owner and the permissions; what is indexed of it stays meanwhile.",
            )
        )
    if facts.bad_rules:
        checks.append(
            warning(
                "ignore files",
                f"not used, or not whole: {some(facts.bad_rules)}",
                f"The reasons: {command('status', '--skipped', project=project.name)}.",
            )
        )
    if not facts.is_writable:
        checks.append(
            warning(
                "writing",
                f"tools cannot write to {project.path}",
                "Check the owner and the permissions, unless that is what you want.",
            )
        )
    return checks
