"""Plans of statements as trees: who reads which table how, by what, and for whom."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import polars as pl

from doctord.analyse.sql.conditions import Condition, condition
from doctord.dataset.dataset import Dataset
from doctord.regex import regex

# What gives on next to no row before it has seen all that comes from below.
_WHOLE: Final = {
    "WindowAgg": "a window function",
    "Unique": "DISTINCT",
    "Limit": "LIMIT",
    "SetOp": "EXCEPT or INTERSECT",
    "Aggregate": "an aggregate",
    "Recursive Union": "a recursion",
}
_QUALIFIER: Final = regex(r"(?<![\w.\"$])(\"(?:[^\"]|\"\")+\"|[a-z_][\w$]*)\.(?=[\"a-z_])")
# What only hands rows on, in another order or from other processes.
_HANDING_ON: Final = ("Sort", "Incremental Sort", "Gather", "Gather Merge", "Materialize", "Result")
_WORKERS: Final = regex(r"\bWorkers Planned: (\d+)")
_COLUMNS: Final = ("step", "parent", "kind", "relationship", "relation", "alias", "index", "rows", "cost", "condition",
                   "filter", "detail")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Node:
    """One node, as a row of `plan` has it."""

    step: int
    parent: int | None
    kind: str
    relationship: str | None
    relation: str | None
    alias: str | None
    index: str | None
    rows: float | None
    cost: float | None
    condition: str | None
    filter: str | None
    detail: str | None

    @property
    def is_seq_scan(self) -> bool:
        """Whether it reads a table whole."""
        return self.kind.endswith("Seq Scan")


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of one statement in a database: its nodes, each before those below it."""

    database: str | None
    nodes: tuple[Node, ...]

    def below(self, node: Node) -> Iterator[Node]:
        """The nodes directly below one."""
        return (one for one in self.nodes if one.parent == node.step)

    def within(self, node: Node) -> Iterator[Node]:
        """A node and all that is below it."""
        yield node
        for one in self.below(node):
            yield from self.within(one)

    def above(self, node: Node) -> Iterator[Node]:
        """The nodes above one, the nearest first."""
        while node.parent is not None:
            node = self.nodes[node.parent]
            yield node

    def reading(self, table: str) -> list[Node]:
        """The nodes that read a table (`schema.name`) whole."""
        return [one for one in self.nodes if one.is_seq_scan and one.relation == table]

    def rows(self, node: Node) -> float:
        """Rows that come of a node in all: below Gather the planner tells those of one process.

        Source: PostgreSQL, src/backend/optimizer/path/costsize.c, get_parallel_divisor.
        """
        gather = next((one for one in self.above(node) if one.kind.startswith("Gather")), None)
        told = _WORKERS.search(gather.detail or "") if gather and self._is_partial(node) else None
        workers = int(told[1]) if told else 0
        return (node.rows or 0.0) * (workers + max(1 - 0.3 * workers, 0.0))

    def _is_partial(self, node: Node) -> bool:
        """Whether each process makes a part of a node's rows: of a plain inner side each makes all."""
        outer = self.outer(node)
        return node.kind.startswith("Parallel") or (outer is not None and self._is_partial(outer))

    def outer(self, node: Node) -> Node | None:
        """The node that one takes its rows from, of joins the outer side; null where it makes them itself."""
        return next((one for one in self.below(node) if one.relationship in ("Outer", "Subquery")), None)

    def loops(self, node: Node) -> float | None:
        """How often a node is run, as the planner expects; null within a subplan, of which that is not told."""
        times = 1.0
        for one in (node, *self.above(node)):
            above = self.nodes[one.parent] if one.parent is not None else None
            if above is None:
                return times
            if one.relationship not in ("Outer", "Inner", "Subquery", "Member", None):
                return None
            if one.relationship == "Inner" and above.kind.startswith("Nested Loop"):
                outer = self.outer(above)
                times *= max(self.rows(outer), 1.0) if outer else 1.0
        return times

    @property
    def stops_early(self) -> bool:
        """Whether some node is not run to its end (LIMIT, a semi join): costs below say then what it would take."""
        return any((one.cost or 0.0) > (node.cost or 0.0) * 1.001 for node in self.nodes for one in self.below(node)
                   if one.relationship == "Outer")  # fmt: skip

    def own_cost(self, node: Node) -> float:
        """What a node costs without those below it; that it runs them again and again is its own."""
        return max((node.cost or 0.0) - sum(one.cost or 0.0 for one in self.below(node)), 0.0)

    def dearest(self) -> Node:
        """The node that costs most by itself."""
        return max(self.nodes, key=self.own_cost)

    def gathers(self, node: Node) -> str | None:
        """What stands at a node, or next below it but for sorts, that needs all rows: in words; null where nothing."""
        at: Node | None = node
        while at is not None:
            for kind, words in _WHOLE.items():
                if kind in at.kind:
                    return words
            at = self.outer(at) if at.kind in _HANDING_ON else None
        return None


def looked_up(node: Node) -> Condition | None:
    """What a node that reads a table compares of it, by its filter; null where it has none, or nobody can parse it."""
    if not node.filter or not node.relation:
        return None
    table = node.relation.rpartition(".")[2]
    return condition(f"SELECT FROM {table} AS {node.alias or table} WHERE {node.filter}", table)


def plan_of(dataset: Dataset, db: str, statement_id: str) -> Plan | None:
    """The last plan of a statement; null where none was read."""
    return dataset.derived("plan", _plans).get((db, statement_id))


def _plans(rows: pl.DataFrame) -> Mapping[tuple[str, str], Plan]:
    own = ["db", "database", "statement_id"]
    told = rows.filter(pl.col("step").is_not_null() & pl.col("kind").is_not_null())
    last = told.filter(pl.col("ts") == pl.col("ts").max().over(own)).unique([*own, "step"], maintain_order=True)
    found = dict[tuple[str, str], Plan]()
    for key, nodes in last.sort("ts", "step", maintain_order=True).partition_by(
        own, maintain_order=True, as_dict=True
    ).items():  # fmt: skip
        tree = tuple(Node(*row) for row in nodes.sort("step", maintain_order=True).select(_COLUMNS).iter_rows())
        is_whole = [node.step for node in tree] == [*range(len(tree))]
        if is_whole and all(node.parent is None or node.parent < node.step for node in tree):
            found[str(key[0]), str(key[2])] = Plan(None if key[1] is None else str(key[1]), tree)
    return found


def qualifiers(condition: str) -> frozenset[str]:
    """The tables, by their aliases, whose columns a condition names.

    >>> sorted(qualifiers("((o.customer = $1) OR ((c.name)::text = ?))"))
    ['c', 'o']
    """
    return frozenset(found.strip('"') for found in _QUALIFIER.findall(condition))


def alternatives(condition: str) -> list[str]:
    """The parts of the widest OR of a condition; none where it has none.

    >>> alternatives("((o.a = $1) AND ((o.b = $2) OR (c.d = $3)))")
    ['(o.b = $2)', '(c.d = $3)']
    """
    best: list[str] = []
    for start, end in _groups(condition):
        parts = _parted(condition[start + 1 : end], " OR ")
        if len(parts) > max(len(best), 1):
            best = parts
    return best


def _groups(text: str) -> Iterator[tuple[int, int]]:
    """Where each bracket opens and closes."""
    opened: list[int] = []
    for at, letter in enumerate(text):
        if letter == "(":
            opened.append(at)
        elif letter == ")" and opened:
            yield opened.pop(), at


def _parted(text: str, by: str) -> list[str]:
    """A text parted at a word that stands outside of brackets."""
    parts, depth, start = list[str](), 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and text.startswith(by, at):
            parts.append(text[start:at].strip())
            start = at + len(by)
    return [*parts, text[start:].strip()]
