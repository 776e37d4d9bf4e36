"""An entry of ours put into a client's file, and taken out of it again.

The order of the steps makes every end a clean one: first the record, then the copy, then the file in one
rename; back again first the file, then the copy, then the record. `_settled` reads from the file which of
them happened.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from memoranda.cli.clients import client_file, documents
from memoranda.cli.clients.client_file import ABSENT, Found, digest
from memoranda.cli.clients.outcomes import Action, Outcome
from memoranda.cli.clients.places import Place
from memoranda.cli.clients.records import Record, RecordStore, may_change
from memoranda.cli.clients.servers import Server, entry_merged, entry_of, input_of, is_same
from memoranda.cli.clients.trace import Unusable
from memoranda.errors import ConfigProblem, MemorandaError
from memoranda.files.atomic import remove_folders


def connect(place: Place, server: Server, store: RecordStore) -> Outcome:
    """Put the entry into the file, or bring the one of ours there up to date.

    Raises:
        ConfigProblem: the file cannot be changed safely, or the entry is another program's.
        FileProblem, DiskFull: it cannot be read or written. In every case it is as it was.
    """
    entry = entry_of(place.client, server, place.name)
    question = input_of(place.client, server, place.name)
    with store.locked(), _told(place.file):
        found = client_file.find(place.file)
        client_file.sweep(found)
        record = _settled(place, found, store)
        text = documents.decoded(found.data or b"")
        old = documents.servers_in(place.kind, text).get(place.name)
        if old is not None and not may_change(old, record, server):
            raise _foreign(place)
        merged = entry if old is None else entry_merged(old, entry)
        asked = documents.with_input(place.kind, text, question) if question else None
        if old is not None and is_same(old, merged) and asked is None:
            return Outcome(Action.UNCHANGED, place.file, reason="it is connected already")
        client_file.require_writable(found)
        edited = documents.with_server(place.kind, text, place.name, merged)
        asked = documents.with_input(place.kind, edited.text, question) if question else None
        data = documents.encoded(asked.text if asked else edited.text)
        fresh = Record(
            file=str(found.target),
            before=found.digest,
            written=(digest(data),),
            is_created=found.data is None,
            entries=(merged,),
            trace=edited.trace,
            question=question,
            question_trace=asked.trace if asked else None,
        )
        if found.data is None:
            return _created(place, found, data, fresh, store)
        if record is not None:
            return _again(place, found, data, record, fresh, store)
        store.save(place, found.target, fresh)
        with _cleaned_up(place, found, store):
            backup = client_file.make_backup(found)
            fresh = replace(fresh, backup=str(backup))
            store.save(place, found.target, fresh)
            client_file.replace(found, data)
        return Outcome(Action.ADDED if old is None else Action.UPDATED, place.file, backup)


def disconnect(place: Place, store: RecordStore) -> Outcome:
    """Take back what `connect` did to the file.

    Raises:
        ConfigProblem: the file cannot be changed safely, or the entry is another program's by now.
        FileProblem, DiskFull: it cannot be read or written. In every case it is as it was.
    """
    with store.locked(), _told(place.file):
        found = client_file.find(place.file)
        client_file.sweep(found)
        had_record = store.load(place, found.target) is not None
        record = _settled(place, found, store)
        if record is None:
            reason = "it was taken back already" if had_record else _gone(place, found)
            return Outcome(Action.UNCHANGED, place.file, reason=reason)
        is_as_left = found.digest in record.written
        outcome = (_put_back if is_as_left else _take_out)(place, found, record)
        store.drop(place, found.target)
        return outcome


def _created(
    place: Place, found: Found, data: bytes, record: Record, store: RecordStore
) -> Outcome:
    folders = tuple(map(str, client_file.missing_folders(found)))
    record = replace(record, folders=folders)
    store.save(place, found.target, record)
    with _cleaned_up(place, found, store):
        client_file.create(found, data)
    return Outcome(Action.CREATED, place.file)


def _again(
    place: Place, found: Found, data: bytes, old: Record, new: Record, store: RecordStore
) -> Outcome:
    """Write over an entry of ours; what was before the first time stays what an undo goes back to."""
    record = replace(
        old,
        entries=(*old.entries, *new.entries),
        question=new.question or old.question,
        question_trace=old.question_trace or new.question_trace,
    )
    backup = None
    if found.digest in old.written:
        record = replace(record, written=(*old.written, *new.written))
    else:
        backup = client_file.make_backup(found)
        copies = [each for each in (old.backup, *old.copies, str(backup)) if each]
        record = replace(
            record,
            before="",
            written=new.written,
            backup="",
            copies=tuple(dict.fromkeys(copies)),
        )
    store.save(place, found.target, record)
    client_file.replace(found, data)
    return Outcome(Action.UPDATED, place.file, backup)


def _put_back(place: Place, found: Found, record: Record) -> Outcome:
    """The file is as we left it: it gets the bytes of before."""
    if record.before == ABSENT:
        client_file.remove(found, [Path(each) for each in record.folders])
        return Outcome(Action.REMOVED, place.file)
    data = client_file.backup_bytes(Path(record.backup)) if record.backup else None
    if data is None or digest(data) != record.before:
        data = _without(place, found, record)
        if digest(data) != record.before:
            return _take_out(place, found, record)
    client_file.replace(found, data)
    if record.backup:
        client_file.forget_backup(Path(record.backup), record.before)
    return Outcome(Action.RESTORED, place.file)


def _take_out(place: Place, found: Found, record: Record) -> Outcome:
    """The file has changed since: the entry goes, the rest stays."""
    text = documents.decoded(found.data or b"")
    there = documents.servers_in(place.kind, text)[place.name]
    if not may_change(there, record):
        raise _foreign(place)
    data = _without(place, found, record)
    if record.is_created and documents.is_empty(place.kind, documents.decoded(data)):
        client_file.remove(found, [Path(each) for each in record.folders])
        return Outcome(Action.REMOVED, place.file)
    client_file.replace(found, data)
    if digest(data) == record.before:
        if record.backup:
            client_file.forget_backup(Path(record.backup), record.before)
        return Outcome(Action.RESTORED, place.file)
    copies = [each for each in (record.backup, *record.copies) if each and Path(each).exists()]
    reason = f"copies of the file from before stay beside it: {', '.join(copies)}" if copies else ""
    return Outcome(Action.TAKEN_OUT, place.file, reason=reason)


def _without(place: Place, found: Found, record: Record) -> bytes:
    text = documents.decoded(found.data or b"")
    if record.question is not None and record.question_trace is not None:
        text = documents.without_input(place.kind, text, record.question, record.question_trace)
    text = documents.without_server(place.kind, text, place.name, record.trace)
    return documents.encoded(text)


def _gone(place: Place, found: Found) -> str:
    """Why there is nothing to take back where nothing was written down."""
    with contextlib.suppress(Unusable):
        text = documents.decoded(found.data or b"")
        if place.name in documents.servers_in(place.kind, text):
            return (
                f"its entry {place.name!r} was not written by this command, or with another "
                "configuration folder; take it out by hand"
            )
    return "it is not connected"


def _settled(place: Place, found: Found, store: RecordStore) -> Record | None:
    """The record, if what it tells of is still in the file; else it is cleaned up and None.

    The file is without the entry when the write never came to its end, when an undo did not, and when a
    person or the client took the entry out.
    """
    record = store.load(place, found.target)
    if record is None or found.digest in record.written:
        return record
    is_there = found.data is not None and found.digest != record.before
    text = documents.decoded(found.data or b"")
    if is_there and place.name in documents.servers_in(place.kind, text):
        return record
    _forget(place, found, record, store)
    return None


def _forget(place: Place, found: Found, record: Record, store: RecordStore) -> None:
    if found.data is None:
        remove_folders([Path(each) for each in record.folders])
    elif found.digest == record.before:
        for backup in client_file.backups(found):
            client_file.forget_backup(backup, record.before)
    store.drop(place, found.target)


@contextlib.contextmanager
def _cleaned_up(place: Place, found: Found, store: RecordStore) -> Iterator[None]:
    """After a failure nothing is left of a write that did not come to its end."""
    try:
        yield
    except MemorandaError:
        with contextlib.suppress(MemorandaError):
            record = store.load(place, found.target)
            if record is not None and client_file.find(place.file).digest == record.before:
                _forget(place, found, record, store)
        raise


@contextlib.contextmanager
def _told(file: Path) -> Iterator[None]:
    """A text that cannot be edited, as an error of ours that names the file."""
    try:
        yield
    except Unusable as error:
        raise ConfigProblem(
            str(file),
            error.of(file),
            line=error.line,
            hint="Nothing was changed. Correct the file, or edit it by hand.",
        ) from error


def _foreign(place: Place) -> ConfigProblem:
    return ConfigProblem(
        str(place.file),
        f"{place.file} has an entry {place.name!r} of another program",
        hint="Nothing was changed. Choose another name for ours with --entry NAME.",
    )
