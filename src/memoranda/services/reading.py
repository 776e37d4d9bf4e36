"""Bytes of a file to what the index and the front ends need of it. Pure.

A process that only reads imports this and no storage.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from memoranda.files.file_service import checksum
from memoranda.markdown.entity_parser import parse_note
from memoranda.markdown.source import decode
from memoranda.model.note import ParsedNote, SourceText
from memoranda.model.sync import FileState, KnownFile
from memoranda.services.note_input import NoteInput


@dataclass(frozen=True, slots=True)
class ReadNote:
    """A file's bytes, decoded and parsed.

    Attributes:
        terms: `services.items.note_terms`, if whoever read the file had time for it.
    """

    state: FileState
    checksum: str
    source: SourceText
    parsed: ParsedNote
    terms: tuple[str, ...] | None = field(default=None, compare=False)  # follows from the rest

    def as_input(self) -> NoteInput:
        """The same, on its way into the index whatever is there."""
        return NoteInput(
            self.parsed, self.source.encoding, self.state, self.checksum, terms=self.terms
        )

    def as_seen(self, seen: KnownFile | None) -> NoteInput:
        """The same, only if the index is still as the sync saw it."""
        return NoteInput(
            self.parsed,
            self.source.encoding,
            self.state,
            self.checksum,
            seen,
            is_guarded=True,
            terms=self.terms,
        )


def read_note(data: bytes, state: FileState) -> ReadNote:
    """Hash, decode and parse one file. An encoding that was guessed is one of the note's problems."""
    source = decode(data)
    parsed = parse_note(source.text, state.path)
    if source.encoding != "utf-8" and not source.bom:
        guess = f"The file is not UTF-8; it was read as {source.encoding}."
        parsed = replace(parsed, problems=(*parsed.problems, guess))
    elif "\0" in source.text:
        nuls = "The file has NUL characters; if it is UTF-16, save it as UTF-8."
        parsed = replace(parsed, problems=(*parsed.problems, nuls))
    return ReadNote(state, checksum(data), source, parsed)
