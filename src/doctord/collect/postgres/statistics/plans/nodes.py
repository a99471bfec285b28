"""A plan as `EXPLAIN (FORMAT JSON, VERBOSE)` tells it, in the words of its text form, without constants."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from doctord.dataset.scrub import scrub
from doctord.regex import regex

_MOST_NODES: Final = 200
_MOST_LETTERS: Final = 1000
_AGGREGATES: Final = {"Hashed": "HashAggregate", "Sorted": "GroupAggregate", "Mixed": "MixedAggregate"}
_CONDITIONS: Final = ("Index Cond", "Hash Cond", "Merge Cond", "TID Cond", "Recheck Cond")
_FILTERS: Final = ("Filter", "Join Filter", "One-Time Filter")
_DETAILS: Final = (
    "Sort Key", "Presorted Key", "Group Key", "Cache Key", "Order By", "Window", "Workers Planned",
    "Subplans Removed", "Conflict Resolution",
)  # fmt: skip

_SUBPLAN: Final = regex(r"\b(SubPlan|InitPlan) (\d+)")
_NUMBERED: Final = regex(r"\b(SubPlan|InitPlan)_(\d+)_")


def nodes(document: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - what JSON holds
    """The nodes of a plan, each before those below it: the columns of `plan` from `step` on.

    Args:
        document: what EXPLAIN gave, parsed.

    >>> nodes([{"Plan": {"Node Type": "Seq Scan", "Schema": "app", "Relation Name": "t", "Plan Rows": 5,
    ...     "Total Cost": 2.5, "Filter": "(t.a = 'x'::text)"}}])[0]["filter"]
    '(t.a = ?::text)'
    """
    found: list[dict[str, Any]] = []
    # A rule may make a statement several, or none, or one that is not planned (NOTIFY).
    plan = next((one["Plan"] for one in document or () if isinstance(one, dict) and "Plan" in one), None)
    for node, parent in _below(plan, None, found) if plan else ():
        found.append({"step": len(found), "parent": parent, **_columns(node)})
        if len(found) == _MOST_NODES:
            break
    return found


def _below(
    node: Mapping[str, Any], parent: int | None, found: list[dict[str, Any]]
) -> Iterator[tuple[Mapping[str, Any], int | None]]:
    step = len(found)
    yield node, parent
    for child in node.get("Plans", ()):
        yield from _below(child, step, found)


def _columns(node: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "kind": kind(node),
        "relationship": node.get("Subplan Name") or node.get("Parent Relationship"),
        "relation": _relation(node),
        "alias": node.get("Alias"),
        "index": node.get("Index Name"),
        "rows": _number(node.get("Plan Rows")),
        "width_bytes": _number(node.get("Plan Width")),
        "cost": _number(node.get("Total Cost")),
        "condition": _line(text for _, text in _texts(node, _CONDITIONS)),
        "filter": _line(text for _, text in _texts(node, _FILTERS)),
        "detail": _line(f"{name}: {text}" for name, text in _texts(node, _DETAILS)),
    }


def kind(node: Mapping[str, Any]) -> str:
    """What a node does, as the text form of EXPLAIN has it.

    >>> kind({"Node Type": "Hash Join", "Join Type": "Left"}), kind({"Node Type": "Nested Loop", "Join Type": "Anti"})
    ('Hash Left Join', 'Nested Loop Anti Join')
    >>> kind({"Node Type": "Aggregate", "Strategy": "Hashed", "Partial Mode": "Partial", "Parallel Aware": False})
    'Partial HashAggregate'
    >>> kind({"Node Type": "Index Scan", "Scan Direction": "Backward"}), kind({"Node Type": "ModifyTable",
    ...     "Operation": "Update"})
    ('Index Scan Backward', 'Update')
    """
    name = str(node.get("Node Type", ""))
    join = node.get("Join Type", "Inner")
    if name == "Aggregate":
        name = _AGGREGATES.get(str(node.get("Strategy")), name)
    elif name == "ModifyTable":
        name = str(node.get("Operation", name))
    elif join != "Inner":
        name = f"{name.removesuffix(' Join')} {join} Join"
    mode = node.get("Partial Mode", "Simple")
    before = [*(["Parallel"] if node.get("Parallel Aware") else []), *([mode] if mode != "Simple" else [])]
    after = ["Backward"] if node.get("Scan Direction") == "Backward" else []
    return " ".join([*before, name, *after])


def _relation(node: Mapping[str, Any]) -> str | None:
    name = node.get("Relation Name") or node.get("Function Name")
    if name:
        return f"{node['Schema']}.{name}" if node.get("Schema") else str(name)
    return node.get("CTE Name")


def _number(value: Any) -> float | None:  # noqa: ANN401 - what JSON holds
    return None if value is None else float(value)


def _texts(node: Mapping[str, Any], names: tuple[str, ...]) -> list[tuple[str, str]]:
    """What a node says under some names, each with its name."""
    told = ((name, node[name]) for name in names if node.get(name) is not None)
    return [(name, str(value) if isinstance(value, int) else _scrubbed(value)) for name, value in told]


def _scrubbed(value: str | list[str]) -> str:
    """Without constants; the number of a subplan is none."""
    text = value if isinstance(value, str) else ", ".join(value)
    return _NUMBERED.sub(r"\1 \2", scrub(_SUBPLAN.sub(r"\1_\2_", text), "postgresql"))


def _line(texts: Iterable[str]) -> str | None:
    return "; ".join(texts)[:_MOST_LETTERS] or None
