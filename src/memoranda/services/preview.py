"""What the index would say of a note that is not written.

Other notes are taken as they stand, though an edit that takes a permalink may cost one of them its own.
"""

from __future__ import annotations

from dataclasses import replace

from memoranda.model.address import NotePath, normalized_target
from memoranda.model.note import Link, NoteRef, OutgoingRelation, ParsedNote
from memoranda.repositories.entity import EntityRepository
from memoranda.repositories.names import NameRepository
from memoranda.repositories.refs import NoteRefRepository
from memoranda.repositories.store import Tx
from memoranda.services.linking import Candidate, Meaning, NameKind, choose, link_keys, names_of
from memoranda.services.permalinks import Claim, ClaimClass, assign, claim


def reference_to(tx: Tx, ref: NoteRef, note: ParsedNote) -> NoteRef:
    """The reference with the title and the permalink that the note would have with this text."""
    new = claim(note)
    in_question = {new.wanted, new.hashed}
    others = [
        one for one in EntityRepository(tx).claims(in_question) if one.entity_id != ref.entity_id
    ]
    claims = [Claim(one.path, one.wanted, ClaimClass(one.strength)) for one in others]
    claims = [new, *(one for one in claims if one.wanted in in_question)]
    hashed = ({one.hashed for one in claims} | {one.hashed for one in others}) & in_question
    return replace(ref, title=note.title, permalink=assign(claims, hashed)[note.path])


def outgoing_of(tx: Tx, ref: NoteRef, note: ParsedNote) -> tuple[OutgoingRelation, ...]:
    """The relations of the note if this were its text, in document order; writes nothing.

    Args:
        tx: the index, in which the note is still as it stands.
        ref: the note with the title and permalink that it would have, see `reference_to`.
        note: its text, parsed.
    """
    wanted: dict[tuple[int | str, str], tuple[Link, int | None]] = {}
    for link, to_id in zip(note.links, _targets(tx, ref, note), strict=True):
        if to_id is None and link.is_attachment:
            continue
        to_note = normalized_target(link.target) if to_id is None else to_id
        wanted.setdefault((to_note, link.relation_type), (link, to_id))
    refs = NoteRefRepository(tx).by_ids({to_id for _, to_id in wanted.values() if to_id})
    found: list[OutgoingRelation] = []
    for link, to_id in wanted.values():
        to = refs.get(to_id) if to_id is not None else None
        to = ref if to_id == ref.entity_id else to
        found.append(
            OutgoingRelation(
                link.relation_type,
                normalized_target(link.target),
                link.target,
                to.title if to else None,
                to.permalink if to else None,
                link.context,
                link.line,
            )
        )
    return tuple(sorted(found, key=lambda one: (one.line, one.relation_type, one.to_name)))


def _targets(tx: Tx, ref: NoteRef, note: ParsedNote) -> list[int | None]:
    """The notes that its links mean, as `link_resolver` finds them."""
    path = ref.file_path
    keys = [link_keys(link, path) for link in note.links]
    stored = NameRepository(tx).with_keys(
        {key for one in keys for key in (one.key, one.root_key, one.slug_key) if key}
    )
    names = {
        key: [
            Candidate(i, NameKind(kind), NotePath(of)) for i, kind, of in rows if i != ref.entity_id
        ]
        for key, rows in stored.items()
    }
    for own in names_of(path, note.title, note.aliases, ref.permalink, claim(note).hashed):
        names.setdefault(own.key, []).append(Candidate(ref.entity_id, own.kind, path))
    meanings = {key: Meaning(candidates) for key, candidates in names.items()}
    return [
        choose(key, link.target, path, meanings) for key, link in zip(keys, note.links, strict=True)
    ]
