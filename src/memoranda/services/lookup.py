"""From a name to a note: what people and assistants type, resolved the same way everywhere.

Reading may use every name; writing, editing and deleting never guess (`exact`). Source: FORMAT
"Looking up a name", spec 7.3 and 8.3 (resolve_path).
"""

from __future__ import annotations

import difflib

from memoranda.errors import (
    AmbiguousName,
    InvalidArgument,
    NameOfFolder,
    NoteNotFound,
    OutsideProject,
)
from memoranda.files.file_service import FileService
from memoranda.files.scan import is_note_path
from memoranda.model.address import (
    Address,
    ById,
    ByName,
    NotePath,
    lookup_key,
    parse_address,
    permalink_key,
    slug,
)
from memoranda.model.note import NoteRef
from memoranda.repositories.directory import DirectoryRepository
from memoranda.repositories.names import NameRepository
from memoranda.repositories.near_titles import NearTitleRepository
from memoranda.repositories.refs import NoteRefRepository
from memoranda.repositories.store import Tx
from memoranda.services.linking import NameKind
from memoranda.services.nearness import Candidate, forms, nearest

_NEAR = 5
_NEIGHBOURS = 50
_BEGUN = 100
_LONGEST_NAME = 4096
_SIMILAR = 0.75
_LOOKED_AT = 3


def find_note(tx: Tx, name: str | Address, *, exact: bool = False) -> NoteRef:
    """The one note a name means.

    Tried in order: id, exact permalink, exact path (with or without `.md`), a unique title, file name or
    alias, a unique permalink whose last segments are the slug. With `exact` only the first three.

    Raises:
        NoteNotFound: with near names; NameOfFolder when it is that of a folder.
        AmbiguousName: several notes by the best kind of name that matches.
        InvalidUri: a memory:// value that breaks spec 7.2.
    """
    address = parse_address(name) if isinstance(name, str) else name
    match address:
        case ById(entity_id):
            if (ref := NoteRefRepository(tx).by_id(entity_id)) is None:
                raise NoteNotFound(f"memory://id/{entity_id}")
            return ref
        case ByName(text):
            return _by_name(tx, text, exact=exact)


def _by_name(tx: Tx, text: str, *, exact: bool) -> NoteRef:
    if len(text) > _LONGEST_NAME:
        raise InvalidArgument("path", f"The name of the note has {len(text):,} characters")
    key = lookup_key(text)
    if not key:
        raise InvalidArgument(
            "path", "The name of the note is empty", hint="Give a permalink, a path or a title."
        )
    literal_key = permalink_key(text)
    found = NameRepository(tx).notes_named({key, literal_key})
    if permalinks := _of_kind(found, {literal_key}, NameKind.PERMALINK):
        return _one(text, permalinks)
    paths = _of_kind(found, {key}, NameKind.PATH)
    literal = [ref for ref in paths if ref.file_path in (text, f"{text}.md", text.strip("/"))]
    if paths:
        return _one(text, literal or paths)
    named = _of_kind(found, {key}, NameKind.TITLE, NameKind.FILE_NAME, NameKind.ALIAS)
    if exact and named:
        raise NoteNotFound(text, [ref.permalink for ref in named[:_NEAR]], is_title=True)
    if not exact:
        if named:
            return _one(text, named)
        tail = "/".join(part for segment in key.split("/") if (part := slug(segment)))
        if tail and (tails := NoteRefRepository(tx).with_permalink_tail(tail, NameKind.SLUG)):
            return _one(text, tails)
    if (notes := _notes_below(tx, folder := text.strip("/"))) > 0:
        raise NameOfFolder(text, folder, notes)
    raise NoteNotFound(text, near_names(tx, text))


def _notes_below(tx: Tx, folder: str) -> int:
    folders, notes = DirectoryRepository(tx).level(folder)
    return sum(folders.values()) + len(notes)


def _of_kind(
    found: list[tuple[str, int, NoteRef]], keys: set[str], *kinds: NameKind
) -> list[NoteRef]:
    return list(
        {ref.entity_id: ref for key, kind, ref in found if kind in kinds and key in keys}.values()
    )


def _one(name: str, refs: list[NoteRef]) -> NoteRef:
    if len(refs) > 1:
        raise AmbiguousName(name, sorted(ref.file_path for ref in refs))
    return refs[0]


def path_on_disk(files: FileService, name: str) -> NotePath | None:
    """The path of a file that the index does not know yet, when the name is literally its path. Touches the disk.

    Raises:
        OutsideProject: the path leads out of the project.
        InvalidArgument, FileProblem: no note can have it, or nobody may know.
    """
    address = parse_address(name)
    if not isinstance(address, ByName):
        return None
    for candidate in (address.name, f"{address.name}.md"):
        if candidate.lower().endswith(".md") and "\0" not in candidate:
            try:
                path = files.note_path(candidate)
            except OutsideProject:
                raise OutsideProject(address.name) from None  # as it was given
            if is_note_path(path) and files.exists(path):
                return files.canonical(path)
    return None


def near_names(tx: Tx, name: str) -> list[str]:
    """Up to five permalinks of notes with a similar title or permalink, best first.

    Looked for among the neighbours in the alphabet and the titles whose words begin alike: a bounded number,
    however many notes there are.
    """
    names, titles = NameRepository(tx), NearTitleRepository(tx)
    wanted = forms(name)
    ids: dict[int, None] = {}
    for form in wanted:
        ids |= dict.fromkeys(names.neighbours(form, NameKind.SLUG, _NEIGHBOURS))
        ids |= dict.fromkeys(titles.with_beginnings(form.split("-"), _BEGUN))
    last = lookup_key(name.rpartition("/")[2])
    for kind in (NameKind.TITLE, NameKind.FILE_NAME):
        ids |= dict.fromkeys(names.neighbours(last, kind, _NEIGHBOURS))
    refs = NoteRefRepository(tx).by_ids(ids).values()
    return nearest(
        name, (Candidate(ref.title, ref.permalink, ref.file_path) for ref in refs), _NEAR
    )


def similar_notes(tx: Tx, ref: NoteRef, limit: int) -> list[NoteRef]:
    """Other notes with nearly the same title, best first.

    Looked for among the neighbours in the alphabet: likely a plural, a typing error, another ending.
    """
    ids = NameRepository(tx).neighbours(lookup_key(ref.title), NameKind.TITLE, _LOOKED_AT)
    others = [one for i, one in NoteRefRepository(tx).by_ids(ids).items() if i != ref.entity_id]
    near = [
        (ratio, one)
        for one in others
        if (ratio := _likeness(slug(ref.title), slug(one.title))) >= _SIMILAR
    ]
    near.sort(key=lambda pair: (-pair[0], pair[1].file_path))
    return [one for _, one in near[:limit]]


def _likeness(one: str, other: str) -> float:
    """0 to 1; what cannot reach the bar is told from the lengths and letters alone."""
    matcher = difflib.SequenceMatcher(None, one, other)
    if matcher.real_quick_ratio() < _SIMILAR or matcher.quick_ratio() < _SIMILAR:
        return 0.0
    return matcher.ratio()
