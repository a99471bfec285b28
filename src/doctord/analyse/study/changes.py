"""What else is different between two periods, so that a difference is laid at the door of the right change."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import polars as pl

from doctord.dataset.dataset import Dataset

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
        "hostname", "postmaster_pid",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that is different: its name, and what it was and is; null: it was not there, or is not any more."""

    kind: Kind
    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Changes:
    """What is different, and the kinds of change of which both periods do not tell."""

    found: Sequence[Change]
    not_recorded: Sequence[Kind]

    def beside(self, named: str) -> list[Change]:
        """All but the one that was made on purpose, where one is named."""
        return [one for one in self.found if one.name.lower() not in named.lower()] if named else [*self.found]


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


def _different(kind: Kind, old: dict[str, str], new: dict[str, str]) -> Iterator[Change]:
    """Names whose values differ; of relations also those that came or went, as a list of them is whole."""
    names = (
        [*old, *(name for name in new if name not in old)] if kind == "relation" else [one for one in old if one in new]
    )
    for name in names:
        if old.get(name) != new.get(name):
            yield Change(kind, name, old.get(name), new.get(name))


def _settings(dataset: Dataset) -> dict[str, str]:
    rows = dataset.frame("setting").drop_nulls(["name", "value"]).filter(~pl.col("name").is_in(sorted(PLACES)))
    return {
        str(name): f"{value} {unit}" if unit else str(value)
        for name, value, unit in rows.sort("ts", maintain_order=True).select("name", "value", "unit").iter_rows()
    }


def _plans(dataset: Dataset) -> dict[str, str]:
    rows = dataset.frame("statement").drop_nulls(["statement_id", "plan_id"])
    plans: dict[str, set[str]] = {}
    for statement, plan in rows.select("statement_id", "plan_id").unique(maintain_order=True).iter_rows():
        plans.setdefault(str(statement), set()).add(str(plan))
    return {statement: ", ".join(sorted(known)) for statement, known in sorted(plans.items())}


def _relations(dataset: Dataset) -> dict[str, str]:
    rows = dataset.frame("space").filter(pl.col("kind").is_in(["table", "index"])).drop_nulls("name")
    return {str(name): str(kind) for name, kind in rows.select("name", "kind").iter_rows()}


_LOOKS: Final[dict[Kind, Callable[[Dataset], dict[str, str]]]] = {
    "setting": _settings,
    "plan": _plans,
    "relation": _relations,
}
