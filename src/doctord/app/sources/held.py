"""A file that was read, and what it tells of whose it is and of when."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property

import polars as pl
import pyarrow as pa

from doctord.dataset.dataset import Dataset
from doctord.dataset.tables import TABLES
from doctord.read.gather import FileRead
from doctord.read.moments import UTC_TAKEN

ORACLE = "oracle:"  # a database that may have several hosts


@dataclass(frozen=True)
class Held:
    """A file, and what it tells of whose it is and of when; `note` is why its times are not as it tells them."""

    file: FileRead
    note: str = ""

    @cached_property
    def dataset(self) -> Dataset:
        """Its rows, as tables."""
        return Dataset(self.file.tables)

    @property
    def tells_utc(self) -> bool:
        """Whether its times are those of UTC as it tells them, or as the user does."""
        return bool(self.since) and not self.file.lacks and not any(UTC_TAKEN in note for note in self.file.notes)

    @property
    def is_local(self) -> bool:
        """Whether its times are of a zone that nobody told."""
        return bool(self.since) and not self.file.lacks and not self.tells_utc

    @property
    def since(self) -> datetime | None:
        """Start of its time; null where nothing in it is of a time, as settings are."""
        return self.dataset.since

    @property
    def until(self) -> datetime | None:
        """The last time in its rows, UTC; null where no row has one."""
        return self.dataset.until

    @cached_property
    def hosts(self) -> frozenset[str]:
        """The hosts that its rows name; empty where they name none."""
        return self.dataset.hosts

    @cached_property
    def dbs(self) -> frozenset[str]:
        """Its databases by name; a vendor alone is none."""
        frames = (self.dataset.frame(name) for name in self.file.tables if "db" in TABLES[name].columns_named)
        names = (name for frame in frames for name in frame["db"].drop_nulls().unique(maintain_order=True))
        return frozenset(name.lower() for name in names if ":" in name)

    @property
    def reported(self) -> set[tuple[str, str]]:
        """The databases, with their hosts, of a report over an interval: such are compared with one another."""
        waits = self.dataset.frame("wait")
        return {(host, db) for host in self.hosts for db in self.dbs} if waits["interval_s"].count() else set()

    @property
    def servers(self) -> set[str]:
        """What files of one time have in common: a host, or a database that may have several, as Oracle's."""
        return {*self.hosts, *(db for db in self.dbs if db.startswith(ORACLE))}

    def by_host(self) -> list["Held"]:
        """The same in parts, as rows tell their hosts; whole where they tell of one host, or of one cluster.

        Nodes that share a database of Oracle are a cluster. Rows without a host go where their database shows whose
        they are; the others are a part of their own.
        """
        clusters = self._clusters() if len(self.hosts) > 1 else []
        if len(clusters) < 2:
            return [self]
        of_host = {host: number for number, hosts in enumerate(clusters) for host in hosts}
        of_db = dict[str, set[int]]()
        for host, db in self._pairs:
            if host and db:
                of_db.setdefault(db, set()).add(of_host[host])
        owners = {db: numbers.pop() for db, numbers in of_db.items() if len(numbers) == 1}
        parts = dict[int | None, dict[str, pa.Table]]()
        for name in self.file.tables:
            frame = self.dataset.frame(name)
            whose = pl.col("host").replace_strict(of_host, default=None, return_dtype=pl.Int64)
            if "db" in frame.columns:
                by_db = pl.col("db").replace_strict(owners, default=None, return_dtype=pl.Int64)
                whose = pl.when(pl.col("host").is_null()).then(by_db).otherwise(whose)
            of_each = frame.with_columns(whose.alias("#whose")).partition_by(
                "#whose", as_dict=True, maintain_order=True
            )
            for (number,), rows in of_each.items():
                parts.setdefault(number, {})[name] = rows.drop("#whose").to_arrow()
        return [replace(self, file=replace(self.file, tables=tables)) for tables in parts.values()]

    def _clusters(self) -> list[frozenset[str]]:
        """The hosts, those together that share a database; one that names no host is of all."""
        found = [frozenset({host}) for host in sorted(self.hosts)]
        for shared in sorted({db for _, db in self._pairs if db and db.lower().startswith(ORACLE)}):
            nodes = {host for host, db in self._pairs if host and db == shared} or self.hosts
            joined = frozenset[str]().union(*(one for one in found if one & nodes))
            found = [*(one for one in found if not one & nodes), joined]
        return found

    @cached_property
    def _pairs(self) -> set[tuple[str | None, str | None]]:
        """The databases of each host."""
        frames = (self.dataset.frame(name) for name in self.file.tables if "db" in TABLES[name].columns_named)
        return {pair for frame in frames for pair in frame.select("host", "db").unique().rows()}

    def may_be_of(self, hosts: AbstractSet[str]) -> bool:
        """Whether nothing tells that it is of none of some hosts."""
        return not self.hosts or not hosts or bool(self.hosts & hosts)

    def spelled(self, hosts: Mapping[str, str]) -> "Held":
        """The same with the names of hosts replaced."""
        if not self.hosts & hosts.keys():
            return self
        frames = {name: self.dataset.frame(name) for name in self.file.tables}
        named = {name: frame.with_columns(pl.col("host").replace(hosts)).to_arrow() for name, frame in frames.items()}
        return replace(self, file=replace(self.file, tables=named))

    def moved(self, by: timedelta, note: str = "") -> "Held":
        """Its rows with all times so much later, as where a zone becomes known; `note` says why, else it stays."""
        frames = {name: self.dataset.frame(name) for name in self.file.tables}
        later = {name: frame.with_columns(pl.col("ts") + by).to_arrow() for name, frame in frames.items()}
        return Held(replace(self.file, tables=later), note or self.note)
