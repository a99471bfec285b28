"""What many hosts shipped, in a layout that engines read as it is: a file for each table, day and bucket of hosts.

```
table=cpu/day=2026-11-28/bucket=07/0001-of-0016.parquet    sorted by host and time; 0001 is the plan that made it
plans/2026-11-28/0001.json                                 which bundles go into the files of that plan
plans/2026-11-28/0001.done                                 which of them are there
hosts/db-1                                                 that something of this host was compacted
```
A file says itself which bundles are in it, so that a reader takes each row once at any moment: what is in a file of its
table is not read from `incoming` again.
"""

import json
import zlib
from collections.abc import Iterator
from datetime import date
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from doctord.dataset.dataset import arrow_schema
from doctord.dataset.tables import TABLES
from doctord.lake.store.store import Store
from doctord.regex import regex

HOSTS: Final = "hosts"
PLANS: Final = "plans"
BUNDLES: Final = b"doctord.bundles"
_PART: Final = regex(
    r"table=(?P<table>\w+)/day=(?P<day>[0-9-]{10})/bucket=(?P<bucket>[0-9]+)/(?P<plan>[0-9]{4})-of-(?P<buckets>[0-9]{4})"
    r"\.parquet"
)


class Part(NamedTuple):
    """A file of the layout: of which table, day and bucket (of how many), by which plan of that day."""

    table: str
    day: date
    bucket: int
    buckets: int
    plan: int

    @property
    def key(self) -> str:
        """Where it is.

        >>> Part("cpu", date(2026, 11, 28), 7, 16, 1).key
        'table=cpu/day=2026-11-28/bucket=07/0001-of-0016.parquet'
        """
        folder = f"table={self.table}/day={self.day.isoformat()}/bucket={self.bucket:02}"
        return f"{folder}/{self.plan:04}-of-{self.buckets:04}.parquet"


def part_of(key: str) -> Part | None:
    """The part of a key; null where it is of none that is known."""
    match = _PART.fullmatch(key)
    if match is None or match["table"] not in TABLES:
        return None
    try:
        day = date.fromisoformat(match["day"])
    except ValueError:
        return None
    return Part(match["table"], day, int(match["bucket"]), int(match["buckets"]), int(match["plan"]))


def bucket_of(host: str, buckets: int) -> int:
    """The bucket that a host is in: by the checksum of its name, which every language has."""
    return zlib.crc32(host.encode()) % buckets


def parts_of(store: Store, host: str, table: str, day: date) -> Iterator[Part]:
    """The files of a table and a day that may hold rows of a host, in the order of their plans."""
    for stored in store.listed(f"table={table}/day={day.isoformat()}/"):
        part = part_of(stored.key)
        if part and part.bucket == bucket_of(host, part.buckets):
            yield part


def bundles_in(file: pq.ParquetFile, host: str) -> set[str]:
    """The segments of a host that a file holds."""
    told = json.loads((file.schema_arrow.metadata or {}).get(BUNDLES, b"[]"))
    return {name for whose, _, name in (str(one).partition("/") for one in told) if whose == host}


def row_groups_of(file: pq.ParquetFile, host: str, span_us: tuple[int | None, int | None]) -> list[int]:
    """The row groups that may hold rows of a host that end after a moment and no later than another."""
    names = [file.metadata.schema.column(number).name for number in range(file.metadata.num_columns)]
    of_host, of_time = names.index("host"), names.index("ts")
    found = list[int]()
    for number in range(file.metadata.num_row_groups):
        group = file.metadata.row_group(number)
        hosts, times = group.column(of_host).statistics, group.column(of_time).statistics
        if hosts is not None and hosts.has_min_max and not hosts.min <= host <= hosts.max:
            continue
        if times is not None and times.has_min_max and not _meets(times, span_us):
            continue
        found.append(number)
    return found


def _meets(times: pq.Statistics, span_us: tuple[int | None, int | None]) -> bool:
    since, until = span_us
    return (until is None or times.min_raw <= until) and (since is None or times.max_raw > since)


def plain_schema(table: str) -> pa.Schema:
    """The columns of a table as they stand in Parquet: times are plain ones, in UTC."""
    fields = arrow_schema(TABLES[table])
    plain = [(field.name, pa.timestamp("us") if pa.types.is_timestamp(field.type) else field.type) for field in fields]
    return pa.schema(plain)


class Plan(NamedTuple):
    """Which bundles of a day go into files together, in how many buckets."""

    day: date
    number: int
    buckets: int
    bundles: tuple[str, ...]

    @property
    def key(self) -> str:
        """Where it is."""
        return f"{PLANS}/{self.day.isoformat()}/{self.number:04}.json"

    @property
    def done_key(self) -> str:
        """Where it is told that it was carried out."""
        return f"{PLANS}/{self.day.isoformat()}/{self.number:04}.done"

    def content(self) -> bytes:
        """As it is kept."""
        return json.dumps({"buckets": self.buckets, "bundles": self.bundles}).encode()


def plans_of(store: Store, day: date) -> tuple[list[Plan], list[Plan], set[str]]:
    """The plans of a day: those carried out, the others, and the bundles that are in files already.

    Raises:
        StoreError: the store refuses.
    """
    keys = {stored.key for stored in store.listed(f"{PLANS}/{day.isoformat()}/")}
    done, pending, there = list[Plan](), list[Plan](), set[str]()
    for key in sorted(keys):
        if not key.endswith(".json"):
            continue
        number = int(key.rpartition("/")[2].removesuffix(".json"))
        with store.opened(key) as file:
            told = json.loads(file.read())
        plan = Plan(day, number, int(told["buckets"]), tuple(told["bundles"]))
        if plan.done_key in keys:
            with store.opened(plan.done_key) as file:
                there |= set(json.loads(file.read()))
            done.append(plan)
        else:
            pending.append(plan)
    return done, pending, there


def compacted_hosts(store: Store) -> list[str]:
    """The hosts of which something was compacted."""
    return [stored.key.removeprefix(f"{HOSTS}/") for stored in store.listed(f"{HOSTS}/")]


def compacted_days(store: Store, table: str) -> list[date]:
    """The days of which a table was compacted, in order."""
    days = (name.removeprefix("day=") for name in store.below(f"table={table}/"))
    return sorted(date.fromisoformat(day) for day in days)
