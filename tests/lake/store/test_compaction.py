"""Each row once, whatever is cut off where."""

import io
import json
import random
import shutil
import zipfile
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
from doctord.lake.place import LakePaths
from doctord.lake.query import Lake
from doctord.lake.store import compaction
from doctord.lake.store.bundle import Later
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
    rows = rows.append_column("mood_pct", pa.nulls(len(rows), pa.float64()))
    pq.write_table(rows.replace_schema_metadata(None), path)
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
    assert list(store.listed("")) == []


def test_keys_of_parts() -> None:
    part = part_of("table=cpu/day=2026-11-28/bucket=07/0001-of-0016.parquet")
    assert part is not None
    assert (part.bucket, part.buckets, part.plan, part.key.count("/")) == (7, 16, 1, 3)
    for key in ("table=moods/day=2026-11-28/bucket=07/0001-of-0016.parquet", "table=cpu/day=x/y", "plans/1"):
        assert part_of(key) is None
    assert 0 <= bucket_of("db-1", 16) < 16
    assert bucket_of("db-1", 16) == bucket_of("db-1", 16)


def test_whoever_carries_a_plan_out_again_may_read_more_or_less_of_it(
    lakes: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = compaction._unpacked

    def without(refused: str) -> Callable[..., Any]:
        def unpacked(store: Store, key: str, place: LakePaths) -> Any:
            if f"/{refused}/" in key:
                raise Later("of a later Doctor D")
            return whole(store, key, place)

        return unpacked

    for number, (first, second) in enumerate(((without("db1"), whole), (whole, without("db1")))):
        store = store_at(str(tmp_path / f"store{number}"))
        shipped(lakes, store)
        monkeypatch.setattr(compaction, "_unpacked", first)
        cut = compact(store, AFTER)
        next(cut)  # its files are there, and that it is done is not
        cut.close()  # type: ignore[attr-defined]
        monkeypatch.setattr(compaction, "_unpacked", second)
        monkeypatch.setattr(compaction, "version", lambda _, number=number: f"1.{number}")
        run(store)
        monkeypatch.setattr(compaction, "_unpacked", whole)
        monkeypatch.setattr(compaction, "version", lambda _: "2.0")
        run(store)
        assert list(store.listed("incoming/")) == []
        for host, place in lakes.items():
            assert rows_of(store, host, tmp_path / f"{number}-{host}") == own_rows(place)


def test_what_is_gone_from_a_plan_does_not_hold_it_up(lakes: dict[str, Path], tmp_path: Path) -> None:
    store = store_at(str(tmp_path / "store"))
    shipped(lakes, store)
    store.put_new("incoming/db0/2026-11-20/20261120T230000Z-00000009.zip", io.BytesIO(b"no zip"))
    cut = compact(store, AFTER)
    next(cut)  # the damaged one is set aside, and the plan is not done
    cut.close()  # type: ignore[attr-defined]
    done = run(store)
    assert (done.days, done.refused, list(store.listed("incoming/"))) == ([DAY], [], [])
    for host, place in lakes.items():
        assert rows_of(store, host, tmp_path / host) == own_rows(place)


def test_one_of_a_later_form_or_with_other_tables_stays_and_is_not_planned_again(tmp_path: Path) -> None:
    store = store_at(str(tmp_path / "store"))
    for number, (form, member) in enumerate(((2, "cpu.parquet"), (1, "moods.parquet"))):
        name, content = f"20261120T23000{number}Z-0000000{number}", io.BytesIO()
        with zipfile.ZipFile(content, "w") as archive:
            archive.writestr("manifest.json", json.dumps({"form": form, "host": "db0", "segment": name}))
            archive.writestr(member, b"PAR1")
        content.seek(0)
        store.put_new(f"incoming/db0/2026-11-20/{name}.zip", content)
    for _ in range(3):
        assert len(run(store).refused) == 2
    assert len(list(store.listed("incoming/"))) == 2
    assert [one.key for one in store.listed("plans/")] == ["plans/2026-11-20/0001.done", "plans/2026-11-20/0001.json"]


def test_what_the_lake_would_not_believe_is_set_aside(lakes: dict[str, Path], tmp_path: Path) -> None:
    place, store = tmp_path / "lake", store_at(str(tmp_path / "store"))
    shutil.copytree(lakes["db0"], place, ignore=shutil.ignore_patterns("shipped"))
    (path,) = (place / "sealed").glob("cpu/*/*.parquet")
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 0xFF
    path.write_bytes(content)
    ship(place, store, "db0")
    done = run(store)
    assert [reason.split(":")[0] for _, reason in done.refused] == ["damaged"]
    assert (done.files, len(list(store.listed("set_aside/")))) == (0, 1)


def test_rows_that_name_no_host_or_another_domain_are_those_of_their_bundle(tmp_path: Path) -> None:
    store = store_at(str(tmp_path / "store"))
    own = recorded(tmp_path / "lake", "db7.example.com")
    for path in (own / "sealed").glob("disk/*/*.parquet"):
        nameless = pl.read_parquet(path).with_columns(host=pl.lit(None, pl.String))
        nameless.write_parquet(path)
    ship(own, store, "db7")
    run(store)
    told = Lake(Shipped(store, "db7", tmp_path / "fetched")).dataset(moment(-10), moment(SECONDS + 10))
    assert {name: len(told.frame(name)) for name in TABLES} == {
        name: len(rows) for name, rows in own_rows(own).items()
    }  # fmt: skip
    assert told.hosts == {"db7"}


def test_a_reader_meanwhile_has_each_row_once(lakes: dict[str, Path], tmp_path: Path) -> None:
    class Compacting(Mortal):
        """Compacts all when the first bundle is to be opened."""

        def opened(self, key: str) -> io.BufferedIOBase:
            if key.startswith("incoming/"):
                run(self._store)
            return self._store.opened(key)

    store = store_at(str(tmp_path / "store"))
    shipped(lakes, store)
    for host in ("db0", "db2"):
        assert rows_of(Compacting(store, 1e9), host, tmp_path / f"while-{host}") == own_rows(lakes[host])
    twice = store_at(str(tmp_path / "twice"))
    shipped(lakes, twice)
    there = Lake(Shipped(twice, "db2", tmp_path / "both"))
    looks = [there.dataset(moment(-10), moment(SECONDS / 2)), None]
    run(twice)
    looks[1] = there.dataset(moment(-10), moment(SECONDS + 10))
    assert looks[1] is not None
    assert {name: len(looks[1].frame(name)) for name in TABLES} == {
        name: len(rows) for name, rows in own_rows(lakes["db2"]).items()
    }  # fmt: skip


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("key")
    store = store_at(str(tmp_path / "store"))
    folder = tmp_path / "store" / "incoming" / "db0" / "2026-11-20"
    folder.mkdir(parents=True)
    (folder / "20261120T220000Z-00000001.zip").symlink_to(tmp_path / "secret")
    (tmp_path / "store" / "incoming" / "db1").symlink_to(tmp_path)
    assert list(store.listed("incoming/")) == []
    assert store.below("incoming/") == ["db0"]
    with pytest.raises(StoreError):
        store.opened("incoming/db0/2026-11-20/20261120T220000Z-00000001.zip")
