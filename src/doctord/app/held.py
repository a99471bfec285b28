"""A file that was read, and what it tells of whose it is and of when."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property

import polars as pl

from doctord.dataset.dataset import Dataset
from doctord.dataset.tables import TABLES
from doctord.read.gather import FileRead
from doctord.read.moments import UTC_TAKEN


@dataclass(frozen=True)
class Held:
    """A file, and what it tells of whose it is and of when; `note` is why its times are not as it tells them."""

    file: FileRead
    note: str = ""

    @cached_property
    def dataset(self) -> Dataset:
        """Its rows."""
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
        """End of it."""
        return self.dataset.until

    @cached_property
    def hosts(self) -> frozenset[str]:
        """Its hosts."""
        return frozenset(self._names("host"))

    @cached_property
    def dbs(self) -> frozenset[str]:
        """Its databases by name; a vendor alone is none."""
        return frozenset(name.lower() for name in self._names("db") if ":" in name)

    def _names(self, column: str) -> set[str]:
        frames = (self.dataset.frame(name) for name in self.file.tables if column in TABLES[name].columns_named)
        return {name for frame in frames for name in frame[column].drop_nulls().unique(maintain_order=True)}

    @property
    def reported(self) -> set[tuple[str, str]]:
        """The databases, with their hosts, of a report over an interval: such are compared with one another."""
        waits = self.dataset.frame("wait")
        return {(host, db) for host in self.hosts for db in self.dbs} if waits["interval_s"].count() else set()

    @property
    def servers(self) -> set[str]:
        """What files of one time have in common: a host, or a database that may have several, as Oracle's."""
        return {*self.hosts, *(db for db in self.dbs if db.startswith("oracle:"))}

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
        """The same, so much later."""
        frames = {name: self.dataset.frame(name) for name in self.file.tables}
        later = {name: frame.with_columns(pl.col("ts") + by).to_arrow() for name, frame in frames.items()}
        return Held(replace(self.file, tables=later), note or self.note)
