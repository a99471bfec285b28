"""What many hosts shipped, in a layout that engines read as it is: a file for each table, day and bucket of hosts.

```
table=cpu/day=2026-11-28/bucket=07/0001-of-0016.parquet    sorted by host and time; 0001 is the plan that made it
plans/2026-11-28/0001.json                                 which bundles go into the files of that plan
plans/2026-11-28/0001.done                                 that it was carried out, and what had to be left
hosts/db-1                                                 that something of this host was compacted
```
A file says itself which bundles are in it, so that a reader takes each row once at any moment: what is in a file of its
table is not read from `incoming` again.
"""

import json
import zlib
from contextlib import suppress
from datetime import date
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from doctord.dataset.dataset import arrow_schema
from doctord.dataset.tables import TABLES
from doctord.lake.store.store import Store, StoreError
from doctord.regex import regex

HOSTS: Final = "hosts"
PLANS: Final = "plans"
BUNDLES: Final = b"doctord.bundles"
_PART: Final = regex(
    r"table=(?P<table>\w+)/day=(?P<day>[0-9-]{10})/bucket=(?P<bucket>[0-9]+)/(?P<plan>[0-9]{4,})-of-(?P<buckets>[0-9]{4,})"
    r"\.parquet"
)


_PLAN: Final = regex(rf"{PLANS}/[0-9-]{{10}}/(?P<number>[0-9]{{4,}})\.json")


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


def listed_parts(store: Store, table: str, day: date) -> list[Part]:
    """The files of a table and a day, in the order of their keys."""
    found = (part_of(stored.key) for stored in store.listed(f"table={table}/day={day.isoformat()}/"))
    return [part for part in found if part]


def parts_of(store: Store, host: str, table: str, day: date) -> list[Part]:
    """Those that may hold rows of a host."""
    return [part for part in listed_parts(store, table, day) if part.bucket == bucket_of(host, part.buckets)]


def names_in(store: Store, part: Part) -> set[str]:
    """The bundles that a file holds: HOST/SEGMENT.

    Raises:
        StoreError: it is damaged, or the store refuses.
    """
    try:
        with store.opened(part.key) as opened, pq.ParquetFile(opened) as file:
            return bundles_in(file.metadata)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise StoreError(
            f"{store.address}/{part.key}: {error}", "move it away, and ship again what was in it"
        ) from error


def bundles_in(footer: pq.FileMetaData) -> set[str]:
    """The bundles that a file holds."""
    return set(json.loads((footer.metadata or {}).get(BUNDLES, b"[]")))


def row_groups_of(footer: pq.FileMetaData, host: str, span_us: tuple[int | None, int | None]) -> list[int]:
    """The row groups that may hold rows of a host that end after a moment and no later than another."""
    names = [footer.schema.column(number).name for number in range(footer.num_columns)]
    of_host, of_time = names.index("host"), names.index("ts")
    found = list[int]()
    for number in range(footer.num_row_groups):
        group = footer.row_group(number)
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


def plans_of(store: Store, day: date) -> tuple[list[Plan], list[Plan], dict[str, str]]:
    """The plans of a day: those carried out, the others; and bundles left for a later Doctor D, with who left them.

    Raises:
        StoreError: one of them is damaged, or the store refuses.
    """
    keys = {stored.key for stored in store.listed(f"{PLANS}/{day.isoformat()}/")}
    done, pending, later = list[Plan](), list[Plan](), dict[str, str]()
    for key in sorted(keys):
        match = _PLAN.fullmatch(key)
        if match is None:
            continue
        told = _read(store, key)
        plan = Plan(day, int(match["number"]), int(told["buckets"]), tuple(told["bundles"]))
        if plan.done_key in keys:
            outcome = _read(store, plan.done_key)
            later |= dict.fromkeys(outcome["later"], outcome["doctord"])
            done.append(plan)
        else:
            pending.append(plan)
    return done, pending, later


def _read(store: Store, key: str) -> dict[str, Any]:
    try:
        with store.opened(key) as file:
            told = json.loads(file.read())
        if not isinstance(told, dict) or not told.keys() & {"buckets", "later"}:
            raise ValueError("it is no plan")  # noqa: TRY301 - told as all that is wrong with it
    except (OSError, ValueError) as error:
        raise StoreError(f"{store.address}/{key}: {error}", "move it away: the next run makes another plan") from error
    return told


def compacted_hosts(store: Store) -> list[str]:
    """The hosts of which something was compacted."""
    return [stored.key.removeprefix(f"{HOSTS}/") for stored in store.listed(f"{HOSTS}/")]


def compacted_days(store: Store, table: str) -> list[date]:
    """The days of which a table was compacted, in order."""
    days = list[date]()
    for name in store.below(f"table={table}/"):
        with suppress(ValueError):  # somebody else's folder
            days.append(date.fromisoformat(name.removeprefix("day=")))
    return sorted(days)
