"""Bytes of a file to what the index and the front ends need of it. Pure but for the log."""

from __future__ import annotations

from dataclasses import dataclass

from memoranda.files.file_service import checksum
from memoranda.markdown.entity_parser import parse_note
from memoranda.markdown.source import decode
from memoranda.model.note import ParsedNote, SourceText
from memoranda.model.sync import FileState
from memoranda.services.entity import NoteInput


@dataclass(frozen=True, slots=True)
class ReadNote:
    """A file's bytes, decoded and parsed."""

    state: FileState
    checksum: str
    source: SourceText
    parsed: ParsedNote

    def as_input(self, entity_id: int | None = None) -> NoteInput:
        """The same, on its way into the index."""
        return NoteInput(self.parsed, self.source.encoding, self.state, self.checksum, entity_id)


def read_note(data: bytes, state: FileState) -> ReadNote:
    """Hash, decode and parse one file."""
    source = decode(data)
    return ReadNote(state, checksum(data), source, parse_note(source.text, state.path))
