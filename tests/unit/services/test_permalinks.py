from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memoranda.model.address import NotePath, Permalink, hashed_permalink
from memoranda.services.permalinks import Claim, ClaimClass, assign


def claim(path: str, wanted: str, strength: ClaimClass = ClaimClass.NATURAL) -> Claim:
    return Claim(NotePath(path), Permalink(wanted), strength)


def test_alone_keeps_what_it_wants():
    assert assign([claim("A b.md", "a-b")], ()) == {"A b.md": "a-b"}


def test_equal_wishes_of_one_class_are_all_hashed():
    claims = [claim("∑ list.md", "list"), claim("📈 list.md", "list")]
    assert assign(claims, ()) == {c.path: hashed_permalink(c.wanted, c.path) for c in claims}


def test_a_declared_permalink_beats_a_path_that_is_it_and_that_beats_the_rest():
    declared = claim("x.md", "a", ClaimClass.DECLARED)
    literal = claim("a.md", "a", ClaimClass.PATH_IS_PERMALINK)
    other = claim("A!.md", "a")
    assert assign([other, literal], ()) == {"a.md": "a", "A!.md": other.hashed}
    assert assign([other, literal, declared], ()) == {
        "x.md": "a",
        "a.md": literal.hashed,
        "A!.md": other.hashed,
    }


def test_a_wish_that_is_the_hashed_form_of_another_note_is_hashed_too():
    victim = claim("a.md", "a")
    squatter = claim("squat.md", victim.hashed, ClaimClass.DECLARED)
    assigned = assign([victim, squatter], {victim.hashed})
    assert assigned == {"a.md": "a", "squat.md": squatter.hashed}


def test_two_paths_with_one_short_hash_still_differ(monkeypatch):
    monkeypatch.setattr("memoranda.model.address.path_hash", lambda path: "00000000")
    assigned = assign([claim("p.md", "a"), claim("q.md", "a")], ())
    assert len(set(assigned.values())) == 2


WISHES = st.lists(
    st.builds(
        claim,
        st.sampled_from([f"{name}.md" for name in "abcdefghij"]),
        st.sampled_from(["x", "y", "z"]),
        st.sampled_from(ClaimClass),
    ),
    unique_by=lambda one: one.path,
)


@given(WISHES, st.randoms())
def test_permalinks_are_unique_and_independent_of_the_order(claims, random):
    assigned = assign(claims, ())
    assert len(set(assigned.values())) == len(claims)
    shuffled = list(claims)
    random.shuffle(shuffled)
    assert assign(shuffled, ()) == assigned
