"""Ship and compact, killed with SIGKILL at random moments, on a store that refuses 5 % of its requests: each row once?

    .venv/bin/python benchmarks/fleet/fleet_kills.py --kills 200

Three hosts get a segment of another hour every few kills. Each kill ends a process that sends one host's lake, or
compacts, some moment after it began to. Every ten kills all rows are read back: none may be there twice. In the end
both run to their ends on a store that does not fail, and every row has to be there once.
"""

import argparse
import io
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from doctord.app.fleet.compact import compact
from doctord.app.fleet.ship import ship
from doctord.dataset.rows import rows
from doctord.errors import UserError
from doctord.lake.query import Lake
from doctord.lake.store.shipped import Shipped
from doctord.lake.store.store import Store, Stored, StoreError, store_at
from doctord.lake.writer import LakeWriter

START: Final = datetime(2026, 11, 1, tzinfo=UTC)
HOSTS: Final = ("db-1", "db-2", "db-3")
REFUSED: Final = 0.05
LONGEST_S: Final = 0.15
BEGUN: Final = "begun"


class Refusing:
    """A store that refuses a share of what it is asked, half of that after it did it."""

    def __init__(self, store: Store, seed: int) -> None:
        """Of this one."""
        self._store, self._chance, self.address = store, random.Random(seed), store.address  # noqa: S311 - no secret

    def _may_refuse(self) -> None:
        if self._chance.random() < REFUSED / 2:
            raise StoreError(f"{self.address}: SlowDown", "try again")

    def _asked(self, name: str, *given: Any) -> Any:  # noqa: ANN401 - whatever a store gives
        self._may_refuse()
        found = getattr(self._store, name)(*given)
        if name != "opened":
            self._may_refuse()
        return found

    def put_new(self, key: str, content: io.BufferedIOBase) -> bool:
        """See `Store`, and so of all below."""
        return bool(self._asked("put_new", key, content))

    def size_bytes(self, key: str) -> int | None:
        """How long."""
        return self._asked("size_bytes", key)  # type: ignore[no-any-return]

    def listed(self, prefix: str) -> Iterator[Stored]:
        """What is there."""
        yield from self._asked("listed", prefix)

    def below(self, prefix: str) -> list[str]:
        """Folders."""
        return self._asked("below", prefix)  # type: ignore[no-any-return]

    def opened(self, key: str) -> io.BufferedIOBase:
        """To be read."""
        return self._asked("opened", key)  # type: ignore[no-any-return]

    def delete(self, keys: Iterable[str]) -> None:
        """Removed."""
        self._asked("delete", list(keys))


def main() -> None:
    """Kill, read back, and tell."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--kills", type=int, default=200)
    options.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    asked = options.parse_args()
    if asked.child:
        work(*asked.child)
        return
    chance = random.Random(1)  # noqa: S311 - as above
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        hours, killed, twice, lost = 0, {"ship": 0, "compact": 0}, 0, 0
        for number in range(asked.kills):
            if number % 4 == 0:
                for host in HOSTS:
                    record(place / "lakes" / host, host, hours)
                hours += 1
            kind = chance.choice(("ship", "ship", "compact"))
            host = chance.choice(HOSTS)
            killed[kind] += kill(place, kind, host, number, chance.uniform(0, LONGEST_S))
            if number % 10 == 9:
                twice += sum(len(told) - len(set(told)) for told in read_back(place, hours).values())
        store = store_at(str(place / "store"))
        for host in HOSTS:
            ship(place / "lakes" / host, store, host)
        while list(store.listed("incoming/")):
            compact(store, timedelta())
        for host, told in read_back(place, hours).items():
            own = all_rows(Lake(place / "lakes" / host), hours)
            twice, lost = twice + len(told) - len(set(told)), lost + len(set(own) - set(told))
        print(f"killed at work: {killed['ship']} times sending, {killed['compact']} compacting, of {asked.kills}")
        print(f"{hours} hours of {len(HOSTS)} hosts: {twice} rows twice, {lost} lost")


def kill(place: Path, kind: str, host: str, seed: int, after_s: float) -> bool:
    """Begin it, and end it so long after; whether it was at work still."""
    command = [sys.executable, __file__, "--child", kind, host, f"{seed}"]
    with subprocess.Popen(command, cwd=place, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout
        child.stdout.readline()
        time.sleep(after_s)
        was_at_work = child.poll() is None
        child.kill()
    return was_at_work


def work(kind: str, host: str, seed: str) -> None:
    """What is killed."""
    store = Refusing(store_at("store"), int(seed))
    print(BEGUN, flush=True)
    try:
        if kind == "ship":
            ship(Path("lakes") / host, store, host)
        else:
            compact(store, timedelta())
    except UserError:
        pass  # refused: the next one goes on


def record(lake: Path, host: str, hour: int) -> None:
    """A segment of a minute of an hour."""
    moments = [START + timedelta(hours=hour, seconds=second) for second in range(1, 61)]
    with LakeWriter(lake) as writer:
        for table, columns in (("cpu", {"idle_pct": 50.0}), ("memory", {"free_bytes": 1}), ("network", {})):
            told = [{"ts": int(at.timestamp() * 1e6), "interval_s": 1.0, "host": host, **columns} for at in moments]
            writer.append(rows(table, told))


def read_back(place: Path, hours: int) -> dict[str, list[str]]:
    """All rows of each host in the store."""
    found = dict[str, list[str]]()
    for host in HOSTS:
        with tempfile.TemporaryDirectory() as folder:
            found[host] = all_rows(Lake(Shipped(store_at(str(place / "store")), host, Path(folder))), hours)
    return found


def all_rows(lake: Lake, hours: int) -> list[str]:
    """Each row with its table."""
    dataset = lake.dataset(START, START + timedelta(hours=hours + 1))
    return [f"{table} {row}" for table in dataset.tables for row in dataset.frame(table).rows()]


if __name__ == "__main__":
    main()
