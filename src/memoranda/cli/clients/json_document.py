"""Entries of a client's JSON file: found, put in, changed and taken out as text. Pure.

Every text that is given back was read again and holds exactly the value that was meant.
"""

from __future__ import annotations

from memoranda.cli.clients.json_edit import put_item, put_member, put_whole, replaced, taken_out
from memoranda.cli.clients.json_tree import Child, Json, Node, NotJson, read_tree
from memoranda.cli.clients.trace import Edited, Trace, Unusable


def table_of(text: str, table: str, *, is_strict: bool) -> dict[str, Json]:
    """The entries of a table by name; {} when the text or the table is not there.

    Raises:
        Unusable: the text is not JSON, or has another shape.
    """
    holder = _table(_root(text, is_strict=is_strict), table, "{")
    value = holder.node.value() if holder else {}
    return value if isinstance(value, dict) else {}


def with_entry(text: str, table: str, name: str, value: Json, *, is_strict: bool) -> Edited:
    """The text with an entry of that name and value, put in or in place of the one there.

    Raises:
        Unusable: the text is not JSON, has another shape, or cannot be changed safely.
    """
    root = _root(text, is_strict=is_strict)
    holder = _table(root, table, "{")
    expected = _members(root)
    servers = dict(_members(holder.node if holder else None))
    servers[name] = value
    expected[table] = servers
    if root is None:
        edited = Edited(put_whole(text, {table: {name: value}}), Trace(blank=text))
    elif holder is None:
        put = put_member(text, root, table, {name: value})
        edited = Edited(put.text, Trace(is_table_new=True, table_gap=put.gap))
    elif (child := holder.node.child(name)) is not None:
        previous = text[child.node.start : child.node.end]
        edited = Edited(replaced(text, child, value), Trace(previous=previous))
    else:
        put = put_member(text, holder.node, name, value)
        edited = Edited(put.text, Trace(gap=put.gap))
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
    expected = _members(root)
    servers = dict(_members(holder.node))
    if trace.previous is not None:
        previous = read_tree(trace.previous, is_strict=is_strict)
        servers[name] = previous.value() if previous else None
        new = f"{text[: child.node.start]}{trace.previous}{text[child.node.end :]}"
    else:
        del servers[name]
        new = _taken(text, root, holder, child, trace)
    expected[table] = servers
    if not servers and (trace.is_table_new or trace.blank is not None):
        del expected[table]
    if _is_blank_again(new, expected, trace, is_strict=is_strict):
        return trace.blank or ""
    _check(new, expected, is_strict=is_strict)
    return new


def with_item(text: str, table: str, value: dict[str, Json], *, is_strict: bool) -> Edited | None:
    """The text with an item at the end of an array; None: an item of that `id` is there already.

    Raises:
        Unusable: as above.
    """
    root = _root(text, is_strict=is_strict)
    holder = _table(root, table, "[")
    if holder and _item(holder.node, value["id"]) is not None:
        return None
    if root is None:
        edited = Edited(put_whole(text, {table: [value]}), Trace(blank=text))
    elif holder is None:
        put = put_member(text, root, table, [value])
        edited = Edited(put.text, Trace(is_table_new=True, table_gap=put.gap))
    else:
        put = put_item(text, holder.node, value)
        edited = Edited(put.text, Trace(gap=put.gap))
    there = holder.node.value() if holder else []
    expected = _members(root)
    expected[table] = [*(there if isinstance(there, list) else []), value]
    _check(edited.text, expected, is_strict=is_strict)
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
    expected = _members(root)
    left = [each.node.value() for each in holder.node.children if each is not child]
    expected[table] = left
    new = _taken(text, root, holder, child, trace)
    if not left and (trace.is_table_new or trace.blank is not None):
        del expected[table]
    if _is_blank_again(new, expected, trace, is_strict=is_strict):
        return trace.blank or ""
    _check(new, expected, is_strict=is_strict)
    return new


def is_empty(text: str, *, is_strict: bool) -> bool:
    """Whether the text says nothing: no value, or an object without members."""
    root = _root(text, is_strict=is_strict)
    return root is None or not root.children


def _taken(text: str, root: Node, holder: Child, child: Child, trace: Trace) -> str:
    is_last = len(holder.node.children) == 1
    if is_last and (trace.is_table_new or trace.blank is not None):
        return taken_out(text, root, holder, trace.table_gap)
    return taken_out(text, holder.node, child, trace.gap)


def _is_blank_again(text: str, expected: dict[str, Json], trace: Trace, *, is_strict: bool) -> bool:
    """Whether nothing is left but what there was before the first value."""
    if expected or trace.blank is None:
        return False
    root = _root(text, is_strict=is_strict)
    rest = text if root is None else text[: root.start] + text[root.end :]
    inner = "" if root is None else text[root.start + 1 : root.end - 1]
    return "".join((rest + inner).split()) == "".join(trace.blank.split())


def _root(text: str, *, is_strict: bool) -> Node | None:
    try:
        root = read_tree(text, is_strict=is_strict)
    except NotJson as error:
        raise Unusable(
            f"is not JSON that can be changed safely: {error.reason}", error.line
        ) from error
    if root is not None and root.opening != "{":
        raise Unusable("holds no JSON object at its top level", 1)
    return root


def _table(root: Node | None, table: str, opening: str) -> Child | None:
    child = root.child(table) if root else None
    if child is not None and child.node.opening != opening:
        kind = "an object" if opening == "{" else "an array"
        raise Unusable(f"has a {table!r} that is not {kind}")
    return child


def _item(holder: Node, item_id: Json) -> Child | None:
    for child in holder.children:
        found = child.node.child("id") if child.node.opening == "{" else None
        if found is not None and found.node.value() == item_id:
            return child
    return None


def _members(node: Node | None) -> dict[str, Json]:
    value = node.value() if node else {}
    return value if isinstance(value, dict) else {}


def _check(text: str, expected: dict[str, Json], *, is_strict: bool) -> None:
    root = _root(text, is_strict=is_strict)
    if (root.value() if root else {}) != expected:
        raise Unusable("could not be changed without changing something else")
