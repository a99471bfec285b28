"""Each row once, whatever is cut off where."""

import io
import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from doctord.app.fleet.ship import ship
from doctord.dataset.rows import rows
from doctord.lake.query import Lake
from doctord.lake.store.compaction import Compacted, compact, expire
from doctord.lake.store.parts import bucket_of, part_of
from doctord.lake.store.shipped import Shipped, hosts_in
from doctord.lake.store.store import Store, Stored, StoreError, store_at
from doctord.lake.writer import LakeWriter
from incident_recordings import moment, tables
from stores import Unreliable, s3

DAY, AFTER = date(2026, 11, 20), date(2026, 11, 21)
TABLES = ("cpu", "disk", "memory", "wait", "statistic")
SECONDS = 20


@pytest.fixture(scope="module")
def lakes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Three hosts; of db2 two segments."""
    folder = tmp_path_factory.mktemp("lakes")
    made = {f"db{number}": recorded(folder / f"db{number}", f"db{number}") for number in range(3)}
    for path in list((made["db2"] / "sealed").glob("*/*/*.parquet")):
        rows = pl.read_parquet(path)
        half = len(rows) // 2
        rows[half:].write_parquet(path.with_name("20261120T230000Z-00000001.parquet"))
        rows[:half].write_parquet(path)
    return made


def recorded(place: Path, host: str) -> Path:

    with LakeWriter(place) as writer:
        for name, told in tables(None, seconds=SECONDS).items():
            writer.append(rows(name, [{**row, "host": host} for row in told]))
    return place


def shipped(lakes: dict[str, Path], store: Store) -> None:
    for host, place in lakes.items():
        for path in (place / "shipped").glob("*"):
            path.unlink()
        ship(place, store, host)


def run(store: Store) -> Compacted:
    done = Compacted()
    for _ in compact(store, AFTER, done):
        pass
    return done


def rows_of(store: Store, host: str, folder: Path) -> dict[str, list[Any]]:
    """All rows of a host, as its lake tells them, in order."""
    there = Lake(Shipped(store, host, folder))
    dataset = there.dataset(moment(-10), moment(SECONDS + 10))
    assert there.problems == []
    return {name: sorted(map(repr, dataset.frame(name).rows())) for name in TABLES}


def own_rows(place: Path) -> dict[str, list[Any]]:
    dataset = Lake(place).dataset(moment(-10), moment(SECONDS + 10))
    return {name: sorted(map(repr, dataset.frame(name).rows())) for name in TABLES}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with s3() as place:
        yield place


@pytest.mark.parametrize("kind", ["folder", "s3"])
def test_what_is_compacted_is_told_as_before(lakes: dict[str, Path], kind: str, address: str, tmp_path: Path) -> None:
    store = store_at(str(tmp_path / "store") if kind == "folder" else f"{address}/{tmp_path.name}")
    shipped(lakes, store)
    done = run(store)
    assert (done.bundles, done.days, done.refused, done.files) == (4, [DAY], [], len(TABLES))
    assert list(store.listed("incoming/")) == []
    assert hosts_in(store) == ["db0", "db1", "db2"]
    for host, place in lakes.items():
        assert rows_of(store, host, tmp_path / f"fetched-{host}") == own_rows(place)
        assert Lake(Shipped(store, host, tmp_path / f"span-{host}")).span() == Lake(place).span()
    again = run(store)
    assert (again.bundles, again.files) == (0, 0)


def test_engines_read_the_files_as_they_are(lakes: dict[str, Path], tmp_path: Path) -> None:
    store = store_at(str(tmp_path / "store"))
    shipped(lakes, store)
    run(store)
    files = f"{tmp_path}/store/table=cpu/*/*/*.parquet"
    source = f"read_parquet('{files}', hive_partitioning=true)"
    query = f"SELECT host, count(*), min(day)::text FROM {source} GROUP BY 1 ORDER BY 1"
    with duckdb.connect() as connection:
        found = connection.execute(query).fetchall()
    assert found == [(f"db{number}", SECONDS, "2026-11-20") for number in range(3)]
    rows = pl.read_parquet(files)
    assert rows.select("host", "ts").equals(rows.select("host", "ts").sort("host", "ts"))


def test_of_a_host_only_its_row_groups_of_that_time_are_read(lakes: dict[str, Path], tmp_path: Path) -> None:
    store = store_at(str(tmp_path / "store"))
    shipped(lakes, store)
    run(store)
    there = Lake(Shipped(store, "db1", tmp_path / "fetched"))
    assert there.dataset(moment(9000), moment(9100), {"cpu": "true"}).tables == {}
    assert list((tmp_path / "fetched" / "sealed").iterdir()) == []


class Killed(BaseException):
    """As kill -9: nothing is done after it."""


class Mortal:
    """A store whose user is killed before or after its nth request."""

    def __init__(self, store: Store, at: float) -> None:
        self._store, self._left, self.address = store, at, store.address

    def _asked(self, do: Callable[[], Any]) -> Any:
        self._left -= 1
        if self._left < 0:
            raise Killed
        found = do()
        if self._left < 0.5:
            self._left = -1
            if isinstance(found, io.BufferedIOBase):
                found.close()
            raise Killed
        return found

    def put_new(self, key: str, content: io.BufferedIOBase) -> bool:
        return bool(self._asked(lambda: self._store.put_new(key, content)))

    def size_bytes(self, key: str) -> int | None:
        return self._asked(lambda: self._store.size_bytes(key))  # type: ignore[no-any-return]

    def listed(self, prefix: str) -> Iterator[Stored]:
        yield from self._asked(lambda: list(self._store.listed(prefix)))

    def below(self, prefix: str) -> list[str]:
        return self._asked(lambda: self._store.below(prefix))  # type: ignore[no-any-return]

    def opened(self, key: str) -> io.BufferedIOBase:
        return self._asked(lambda: self._store.opened(key))  # type: ignore[no-any-return]

    def delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            self._asked(lambda key=key: self._store.delete([key]))


@pytest.mark.parametrize("seed", range(12))
def test_killed_at_any_moment_each_row_is_there_once(lakes: dict[str, Path], seed: int, tmp_path: Path) -> None:
    chance, store = random.Random(seed), store_at(str(tmp_path / "store"))  # noqa: S311
    for number in range(3):
        with suppress(Killed):
            for host, place in lakes.items():
                ship(place, Mortal(store, chance.randrange(0, 20) + chance.choice([0.0, 0.4])), host)
        with suppress(Killed):
            run_with(Mortal(store, chance.randrange(0, 60) + chance.choice([0.0, 0.4])))
        for host, place in lakes.items():
            told = rows_of(store, host, tmp_path / f"{number}-{host}")
            own = own_rows(place)
            assert all(len(set(rows)) == len(rows) and set(rows) <= set(own[name]) for name, rows in told.items())
    shipped(lakes, store)  # whose knowledge of what was sent is gone
    while list(store.listed("incoming/")):
        run(store)
    for host, place in lakes.items():
        assert rows_of(store, host, tmp_path / f"last-{host}") == own_rows(place)


def run_with(store: Store) -> None:
    for _ in compact(store, AFTER):
        pass


def test_a_store_that_fails_costs_no_row(lakes: dict[str, Path], tmp_path: Path) -> None:
    store = store_at(str(tmp_path / "store"))
    shipped(lakes, store)
    runs = 0
    while list(store.listed("incoming/")) and runs < 200:
        with suppress(StoreError):
            run_with(Unreliable(store, 0.2, seed=runs, lies=0.05))
        runs += 1
    assert 1 < runs < 200
    for host, place in lakes.items():
        assert rows_of(store, host, tmp_path / host) == own_rows(place)


def test_two_at_once_do_the_same(lakes: dict[str, Path], tmp_path: Path) -> None:
    store = store_at(str(tmp_path / "store"))
    shipped(lakes, store)
    first, second = compact(store, AFTER), compact(store, AFTER)
    next(first)
    next(second, None)
    for _ in first:
        next(second, None)
    for _ in second:
        pass
    assert list(store.listed("incoming/")) == []
    for host, place in lakes.items():
        assert rows_of(store, host, tmp_path / host) == own_rows(place)


def test_what_is_damaged_or_anothers_is_set_aside_and_what_is_of_a_later_doctord_stays(
    lakes: dict[str, Path], tmp_path: Path
) -> None:
    store = store_at(str(tmp_path / "store"))
    ship(lakes["db0"], store, "another")
    for path in (lakes["db0"] / "shipped").glob("*"):
        path.unlink()
    ship(lakes["db0"], store, "db0")
    (whole,) = store.listed("incoming/db0/")
    with store.opened(whole.key) as file:
        torn = file.read()[:-100]
    store.put_new("incoming/db0/2026-11-20/20261120T230000Z-00000009.zip", io.BytesIO(torn))
    later = recorded(tmp_path / "later", "db7")
    (path,) = (later / "sealed").glob("cpu/*/*.parquet")
    rows = pq.read_table(path, partitioning=None)
    pq.write_table(rows.append_column("mood_pct", pa.nulls(len(rows), pa.float64())), path)
    ship(later, store, "db7")
    done = run(store)
    assert sorted(reason.split(":")[0] for _, reason in done.refused) == [
        "damaged", "its rows are of db0", "of a later Doctor D",
    ]  # fmt: skip
    assert [one.key.split("/")[1] for one in store.listed("incoming/")] == ["db7"]
    assert len(list(store.listed("set_aside/"))) == 2
    assert rows_of(store, "db0", tmp_path / "fetched") == own_rows(lakes["db0"])


def test_old_days_are_removed(lakes: dict[str, Path], tmp_path: Path) -> None:
    store = store_at(str(tmp_path / "store"))
    shipped(lakes, store)
    done = run(store)
    expire(store, DAY, done)
    assert done.expired == []
    expire(store, AFTER, done)
    assert done.expired == [DAY]
    assert [one.key for one in store.listed("")] == ["hosts/db0", "hosts/db1", "hosts/db2"]


def test_keys_of_parts() -> None:
    part = part_of("table=cpu/day=2026-11-28/bucket=07/0001-of-0016.parquet")
    assert part is not None
    assert (part.bucket, part.buckets, part.plan, part.key.count("/")) == (7, 16, 1, 3)
    for key in ("table=moods/day=2026-11-28/bucket=07/0001-of-0016.parquet", "table=cpu/day=x/y", "plans/1"):
        assert part_of(key) is None
    assert 0 <= bucket_of("db-1", 16) < 16
    assert bucket_of("db-1", 16) == bucket_of("db-1", 16)
