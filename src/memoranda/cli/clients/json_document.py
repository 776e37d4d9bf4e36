"""Entries of a client's JSON file: found, put in, changed and taken out as text. Pure.

Every text that is given back was read again and holds exactly the value that was meant.
"""

from __future__ import annotations

from memoranda.cli.clients.json_edit import put_item, put_member, put_whole, replaced, taken_out
from memoranda.cli.clients.json_tree import Child, Json, Node, read_tree
from memoranda.cli.clients.trace import Edited, Trace, Unusable


def table_of(text: str, table: str, *, is_strict: bool) -> dict[str, Json]:
    """The entries of a table by name; {} when the text or the table is not there.

    Raises:
        Unusable: the text is not JSON, or has another shape.
    """
    return _members(_table(_root(text, is_strict=is_strict), table, "{"))


def with_entry(text: str, table: str, name: str, value: Json, *, is_strict: bool) -> Edited:
    """The text with an entry of that name and value, put in or in place of the one there.

    Raises:
        Unusable: the text is not JSON, has another shape, or cannot be changed safely.
    """
    root = _root(text, is_strict=is_strict)
    holder = _table(root, table, "{")
    if holder is None:
        edited = _with_table(text, root, table, {name: value})
    elif (child := holder.node.child(name)) is not None:
        previous = text[child.node.start : child.node.end]
        edited = Edited(replaced(text, child, value), Trace(previous=previous))
    else:
        edited = put_member(text, holder.node, name, value)
    expected = _members(root) | {table: _members(holder) | {name: value}}
    _check(edited.text, expected, is_strict=is_strict)
    return edited


def without_entry(text: str, table: str, name: str, trace: Trace, *, is_strict: bool) -> str:
    """The text without that entry, or with the value that the entry took the place of.

    Raises:
        Unusable: as above; also when there is no such entry.
    """
    root = _root(text, is_strict=is_strict)
    holder = _table(root, table, "{")
    child = holder.node.child(name) if holder else None
    if root is None or holder is None or child is None:
        raise Unusable(f"it has no {name} in {table}")
    servers = _members(holder)
    if trace.previous is None:
        del servers[name]
        return _taken(text, root, holder, child, servers, trace, is_strict=is_strict)
    previous = read_tree(trace.previous, is_strict=is_strict)
    servers[name] = previous.value() if previous else None
    new = f"{text[: child.node.start]}{trace.previous}{text[child.node.end :]}"
    _check(new, _members(root) | {table: servers}, is_strict=is_strict)
    return new


def with_item(text: str, table: str, value: dict[str, Json], *, is_strict: bool) -> Edited | None:
    """The text with an item at the end of an array; None: an item of that `id` is there already.

    Raises:
        Unusable: as above.
    """
    root = _root(text, is_strict=is_strict)
    holder = _table(root, table, "[")
    if holder is None:
        edited = _with_table(text, root, table, [value])
    elif _item(holder.node, value["id"]) is not None:
        return None
    else:
        edited = put_item(text, holder.node, value)
    there = [each.node.value() for each in holder.node.children] if holder else []
    _check(edited.text, _members(root) | {table: [*there, value]}, is_strict=is_strict)
    return edited


def without_item(text: str, table: str, item_id: Json, trace: Trace, *, is_strict: bool) -> str:
    """The text without the item of that `id`; as it is when there is none.

    Raises:
        Unusable: as above.
    """
    root = _root(text, is_strict=is_strict)
    holder = _table(root, table, "[")
    child = _item(holder.node, item_id) if holder else None
    if root is None or holder is None or child is None:
        return text
    left: Json = [each.node.value() for each in holder.node.children if each is not child]
    return _taken(text, root, holder, child, left, trace, is_strict=is_strict)


def is_empty(text: str, *, is_strict: bool) -> bool:
    """Whether the text says nothing: no value, or an object without members."""
    root = _root(text, is_strict=is_strict)
    return root is None or not root.children


def _with_table(text: str, root: Node | None, table: str, value: Json) -> Edited:
    """The text with a table that it has not."""
    if root is None:
        return Edited(put_whole(text, {table: value}), Trace(blank=text))
    put = put_member(text, root, table, value)
    return Edited(put.text, Trace(is_table_new=True, gap=put.trace.gap))


def _taken(
    text: str, root: Node, holder: Child, child: Child, left: Json, trace: Trace, *, is_strict: bool
) -> str:
    """The text without the child; and without its table, if that was made for it and nothing is left."""
    expected = _members(root)
    if not left and (trace.is_table_new or trace.blank is not None):
        new = taken_out(text, root, holder, trace.gap)
        del expected[holder.key or ""]
    else:
        new = taken_out(text, holder.node, child, trace.gap)
        expected[holder.key or ""] = left
    if _is_blank_again(new, expected, trace, is_strict=is_strict):
        return trace.blank or ""
    _check(new, expected, is_strict=is_strict)
    return new


def _is_blank_again(text: str, expected: dict[str, Json], trace: Trace, *, is_strict: bool) -> bool:
    """Whether nothing is left but what there was before the first value."""
    if expected or trace.blank is None:
        return False
    root = _root(text, is_strict=is_strict)
    rest = text if root is None else text[: root.start] + text[root.end :]
    inner = "" if root is None else text[root.start + 1 : root.end - 1]
    return "".join((rest + inner).split()) == "".join(trace.blank.split())


def _root(text: str, *, is_strict: bool) -> Node | None:
    root = read_tree(text, is_strict=is_strict)
    if root is not None and root.opening != "{":
        raise Unusable("holds no JSON object at its top level", 1)
    return root


def _table(root: Node | None, table: str, opening: str) -> Child | None:
    child = root.child(table) if root else None
    if child is not None and child.node.opening != opening:
        kind = "an object" if opening == "{" else "an array"
        raise Unusable(f"has {table!r}, which is not {kind}")
    return child


def _item(holder: Node, item_id: Json) -> Child | None:
    for child in holder.children:
        item = child.node.value()
        if isinstance(item, dict) and item.get("id") == item_id:
            return child
    return None


def _members(found: Node | Child | None) -> dict[str, Json]:
    """The members of an object, {} of none."""
    node = found.node if isinstance(found, Child) else found
    value = node.value() if node else {}
    return value if isinstance(value, dict) else {}


def _check(text: str, expected: dict[str, Json], *, is_strict: bool) -> None:
    root = _root(text, is_strict=is_strict)
    if (root.value() if root else {}) != expected:
        raise Unusable("could not be changed without changing something else")
