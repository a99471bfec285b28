"""What a source tells of a time, made of groups of files or of a lake's rows."""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime

import polars as pl

from doctord._native import Batch
from doctord.app import read
from doctord.app.sources.groups import Group
from doctord.dataset.calltrace import Trace
from doctord.dataset.dataset import Dataset
from doctord.errors import UserError


@dataclass(frozen=True)
class Seen:
    """What a source tells of a time.

    Attributes:
        dataset: What was measured in it.
        host: The host, or the nodes of a cluster; empty where none is named.
        earlier: What vital signs need of the time before; empty where nothing is known of it.
        trace: The call trace, where one is among it.
        period: From when to when it is, where some of its rows tell no time of their own; null: as its rows tell.
        is_dated: Whether all of it tells when it was; else that is taken to be when files were last written.
        batches: The rows as they came, of what was measured just now.
    """

    dataset: Dataset
    earlier: Dataset = field(default_factory=Dataset)
    host: str = ""
    trace: Trace | None = None
    period: tuple[datetime, datetime] | None = None
    is_dated: bool = True
    batches: Sequence[Batch] = ()


def of_host(parts: Sequence[Group], host: str | None) -> list[Group]:
    """The parts of one host; of all, where none is asked for.

    Raises:
        UserError: there is no such host.
    """
    chosen = [part for part in parts if host is None or part.is_of(host)]
    if not chosen:
        names = sorted({name for part in parts for name in part.hosts})
        raise UserError(f"no host {host!r} is told of", f"there are: {', '.join(names)}" if names else "none is named")
    return chosen


def several(names: Iterable[str]) -> UserError:
    """The refusal of several hosts where one is meant."""
    there = [name or "one that is not named" for name in names]
    return UserError(f"{len(there)} hosts are told of: {', '.join(there)}", "choose one with --host")


def rows_of(group: Group) -> Dataset:
    """The rows of its files, those that two of them tell once."""
    return Dataset(read.tables_of([held.file for held in group.files]))


def rows_of_hosts(dataset: Dataset, hosts: AbstractSet[str]) -> Dataset:
    """The rows of all tables whose `host` is one of these; rows without a host are left out."""
    is_theirs = pl.col("host").is_in(sorted(hosts))
    return Dataset({name: dataset.frame(name).filter(is_theirs) for name in dataset.tables})
