"""What else is different between two periods, so that a difference is laid at the door of the right change."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import polars as pl

from doctord.dataset.dataset import Dataset
from doctord.dataset.tables import NOTED
from doctord.regex import regex

Kind: TypeAlias = Literal["setting", "plan", "relation"]
KINDS: Final[dict[Kind, str]] = {
    "setting": "settings and versions",
    "plan": "plans of statements",
    "relation": "tables and indexes",
}
# Where a server lies, and how it is reached: no change of what it does.
PLACES: Final = frozenset(
    {
        "data_directory", "config_file", "hba_file", "ident_file", "external_pid_file", "port", "datadir", "socket",
        "unix_socket_directories", "log_directory", "log_filename", "listen_addresses", "pid_file", "server_uuid",
        "hostname", "postmaster_pid", "server_pid",
    }
)  # fmt: skip


# Where a value comes from that nobody set: it is computed of others, or built in.
COMPUTED: Final = frozenset({"default", "override"})
_WORD: Final = regex(r"[^\s,;]+")
_VERSION: Final = regex(
    r"(?:server_|innodb_)?version(?:_num|_comment|_compile_\w+)?"
)  # one upgrade changes them together


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that is different.

    Attributes:
        kind: What it is.
        name: Its name.
        before, after: What it was and is; null: it was not there, or is not any more.
        is_computed: Whether nobody set it in either period: another change brought it along.
        is_noted: Whether it stands in a list of what was changed, which somebody wrote.
    """

    kind: Kind
    name: str
    before: str | None
    after: str | None
    is_computed: bool = False
    is_noted: bool = False


@dataclass(frozen=True, slots=True)
class Changes:
    """What is different, and the kinds of change of which both periods do not tell."""

    found: Sequence[Change]
    not_recorded: Sequence[Kind]

    def beside(self, named: str) -> list[Change]:
        """All but those that were made on purpose, where some are named; of `shop.orders_idx` the end is enough."""
        text = named.lower()
        words = set(_WORD.findall(text))
        return [
            one
            for one in self.found
            if not named or (one.name.lower() not in text and one.name.lower().rpartition(".")[2] not in words)
        ]

    def only_beside(self, other: "Changes") -> "Changes":
        """Those that another server had not: what was changed on both is no difference between them."""
        there = {(one.kind, one.name, one.after) for one in other.found}
        return Changes([one for one in self.found if (one.kind, one.name, one.after) not in there], self.not_recorded)

    def confounding(self, named: str) -> list[Change]:
        """The changes of which nobody can say which did it: none where there is one alone, or all were on purpose.

        What was changed on purpose is one change, were it of many parts: what is named, and what a list of changes
        holds that somebody wrote. Versions of one server are one change. Plans change with what else changes, and
        where nothing else did they are one change.
        """
        others = [one for one in self.beside(named) if not one.is_noted]
        single = {_whose(one): one for one in others if one.kind != "plan" and not one.is_computed}
        is_on_purpose = bool(named) or any(one.is_noted for one in self.found)
        return [*single.values()] if single and len(single) + is_on_purpose > 1 else []


@dataclass(frozen=True, slots=True)
class _Value:
    """What one period tells of one thing, and who says so."""

    text: str
    source: str | None = None


def changes_of(before: Dataset, after: Dataset) -> Changes:
    """What is different in settings, versions (as a server and a kernel tell them), plans and relations."""
    found, missing = list[Change](), list[Kind]()
    for kind, look in _LOOKS.items():
        both = look(before), look(after)
        if not all(both):
            missing.append(kind)
            continue
        found += _different(kind, *both)
    return Changes(found, missing)


def _whose(change: Change) -> str:
    return "version" if change.kind == "setting" and _VERSION.fullmatch(change.name.lower()) else change.name


def _different(kind: Kind, old: dict[str, _Value], new: dict[str, _Value]) -> Iterator[Change]:
    """Names whose values differ; of relations also those that came or went, as a list of them is whole."""
    names = (
        [*old, *(name for name in new if name not in old)] if kind == "relation" else [one for one in old if one in new]
    )
    for name in names:
        values = old.get(name), new.get(name)
        texts = [value.text if value else None for value in values]
        if texts[0] != texts[1]:
            sources = {value.source for value in values if value}
            is_computed = sources <= COMPUTED and not _VERSION.fullmatch(name.lower())
            yield Change(kind, name, texts[0], texts[1], is_computed, is_noted=sources == {NOTED})


def _settings(dataset: Dataset) -> dict[str, _Value]:
    rows = dataset.frame("setting").drop_nulls(["name", "value"]).filter(~pl.col("name").is_in(sorted(PLACES)))
    return {
        str(name): _Value(f"{value} {unit}" if unit else str(value), source)
        for name, value, unit, source in rows.sort("ts", maintain_order=True)
        .select("name", "value", "unit", "source")
        .iter_rows()
    }


def _plans(dataset: Dataset) -> dict[str, _Value]:
    rows = dataset.frame("statement").drop_nulls(["statement_id", "plan_id"])
    plans: dict[str, set[str]] = {}
    for statement, plan in rows.select("statement_id", "plan_id").unique(maintain_order=True).iter_rows():
        plans.setdefault(str(statement), set()).add(str(plan))
    return {statement: _Value(", ".join(sorted(known))) for statement, known in sorted(plans.items())}


def _relations(dataset: Dataset) -> dict[str, _Value]:
    rows = dataset.frame("space").filter(pl.col("kind").is_in(["table", "index"])).drop_nulls("name")
    return {
        str(name): _Value(str(kind))
        for name, kind in rows.select("name", "kind").unique(maintain_order=True).iter_rows()
    }


_LOOKS: Final[dict[Kind, Callable[[Dataset], dict[str, _Value]]]] = {
    "setting": _settings,
    "plan": _plans,
    "relation": _relations,
}
