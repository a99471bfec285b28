"""What is recorded comes to a store, each segment once, whatever happens on the way."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from doctord.app.asked import Interval
from doctord.app.diagnose import diagnose
from doctord.app.fleet.diagnose import diagnose_fleet
from doctord.app.fleet.hosts import Chosen, hosts_of
from doctord.app.fleet.ship import ship
from doctord.app.source import Recorded, recorded
from doctord.dataset.rows import rows
from doctord.errors import UserError
from doctord.lake.query import Lake
from doctord.lake.store.shipped import Shipped
from doctord.lake.store.store import Store, store_at
from doctord.lake.writer import LakeWriter
from heard import Heard
from here import Here
from incident_recordings import SECONDS, lake, moment, tables
from stores import Unreliable, s3

IN_IT = Interval(moment(0), moment(SECONDS))
BEGAN = {"kind": "recording", "subject": "lake", "text": "a recorder began", "host": "db1"}
IS_ILL = {"event": "tuple", "begin": 0, "end": SECONDS}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with s3() as place:
        yield place


@pytest.fixture(params=["folder", "s3"])
def place(request: pytest.FixtureRequest, address: str, tmp_path: Path) -> str:
    return str(tmp_path / "store") if request.param == "folder" else f"{address}/{tmp_path.name}"


def rows_of(one: Lake) -> dict[str, int]:
    dataset = one.dataset(moment(-10), moment(SECONDS + 10))
    return {name: len(dataset.frame(name)) for name in dataset.tables}


def test_what_was_sent_is_a_lake_again(place: str, tmp_path: Path) -> None:
    own = lake(tmp_path / "lake", **IS_ILL)
    sent = ship(own, store_at(place), "db1")
    assert (len(sent.sent), sent.there, sent.waiting, sent.healthy) == (1, 0, (), True)
    assert sent.sent_bytes > 1000
    there = Lake(Shipped(store_at(place), "db1", tmp_path / "fetched"))
    assert rows_of(there) == rows_of(Lake(own))
    assert there.span() == Lake(own).span()
    assert there.problems == []


def test_to_send_it_again_sends_nothing(place: str, tmp_path: Path) -> None:
    own = lake(tmp_path / "lake")
    ship(own, store_at(place), "db1")
    assert ship(own, store_at(place), "db1").sent == ()
    # Somebody removed what stood in the lake: what is there is found.
    for path in (own / "shipped").iterdir():
        path.unlink()
    again = ship(own, store_at(place), "db1")
    assert (len(again.sent), again.there, again.sent_bytes, again.healthy) == (1, 1, 0, True)


def test_only_tables_and_times_that_are_asked_for_are_fetched(place: str, tmp_path: Path) -> None:
    ship(lake(tmp_path / "lake"), store_at(place), "db1")
    there = Shipped(store_at(place), "db1", tmp_path / "fetched")
    Lake(there).dataset(moment(0), moment(SECONDS), {"cpu": "true"})
    assert [path.name for path in (tmp_path / "fetched" / "sealed").iterdir()] == ["cpu"]
    other = Shipped(store_at(place), "db1", tmp_path / "other")
    assert Lake(other).dataset(moment(9000), moment(9100), {"cpu": "true"}).tables == {}
    assert list((tmp_path / "other" / "sealed").iterdir()) == []


def test_the_verdict_is_that_of_the_lake(place: str, tmp_path: Path) -> None:
    own = lake(tmp_path / "lake", **IS_ILL)
    ship(own, store_at(place), "db1")
    by_lake, by_store = diagnose(Recorded(own), IN_IT), diagnose(recorded(Path(place), "db1"), IN_IT)
    assert by_store.diagnosis.findings == by_lake.diagnosis.findings != ()


def test_a_fleet_in_a_store(place: str, tmp_path: Path) -> None:
    for number in range(3):
        is_ill = IS_ILL if number == 1 else {"event": None}
        ship(lake(tmp_path / f"lake{number}", seed=number, **is_ill), store_at(place), f"db{number}")
    hosts = hosts_of(place, Chosen(), None, Heard())
    assert [host.name for host in hosts] == ["db0", "db1", "db2"]
    found = diagnose_fleet(place, hosts, IN_IT, Here())
    assert [host.name for host, _ in found.ill] == ["db1"]
    assert found.failed == ()
    with pytest.raises(UserError, match="3 hosts are told of"):
        recorded(Path(place))
    with pytest.raises(UserError, match="no host db9 is there"):
        recorded(Path(place), "db9")


def test_every_segment_once_through_a_store_that_fails_and_lies(tmp_path: Path) -> None:
    own = lake(tmp_path / "lake")
    for number in range(1, 12):  # segments of eleven hours
        for path in list((own / "sealed").glob("*/*/*.parquet")):
            if path.name.startswith("20261120T2200"):
                later = f"20261120T{10 + number:02}0000Z-{number:08x}.parquet"
                path.with_name(later).hardlink_to(path)
    store: Store = store_at(str(tmp_path / "store"))
    sent, runs = 0, 0
    while sent < 12 and runs < 100:
        sent += len(ship(own, Unreliable(store, 0.3, seed=runs, lies=0.1), "db1").sent)
        runs += 1
    assert 1 < runs < 100
    assert len([one for one in store.listed("") if one.size_bytes]) == sent == 12
    assert ship(own, store, "db1").sent == ()


def test_what_is_refused_waits_and_what_retention_took_is_told(tmp_path: Path) -> None:
    own = lake(tmp_path / "lake")
    waits = ship(own, Unreliable(store_at(str(tmp_path / "store")), 2.0, seed=1), "db1")
    assert (waits.healthy, waits.sent, len(waits.waiting)) == (None, (), 1)
    assert "SlowDown" in waits.waiting[0][1]
    for path in (own / "sealed").glob("cpu/*/*.parquet"):
        path.rename(path.with_name("20261120T230000Z-00000001.parquet"))
    for path in (own / "sealed").glob("*/*/20261120T22*.parquet"):
        path.unlink()
    found = ship(own, store_at(str(tmp_path / "store")), "db1")
    assert (found.sent, found.lost) == (("20261120T230000Z-00000001",), (waits.waiting[0][0],))
    assert ship(own, store_at(str(tmp_path / "store")), "db1").lost == ()


def test_what_is_there_under_that_name_is_there(tmp_path: Path) -> None:
    store, own = store_at(str(tmp_path / "store")), lake(tmp_path / "lake")
    first = ship(own, store, "db1")
    for path in (own / "shipped").iterdir():
        path.unlink()
    for path in (own / "sealed").glob("cpu/*/*.parquet"):
        path.unlink()  # retention, say
    again = ship(own, store, "db1")
    assert (again.there, again.waiting, again.healthy) == (1, (), True)
    assert store.size_bytes(next(store.listed("")).key) == first.sent_bytes


def test_what_retention_took_of_a_segment_that_waited_is_told(tmp_path: Path) -> None:
    own, store = lake(tmp_path / "lake"), store_at(str(tmp_path / "store"))
    (name, _), *_ = ship(own, Unreliable(store, 2.0, seed=1), "db1").waiting
    for path in (own / "sealed").glob("cpu/*/*.parquet"):
        path.unlink()
    found = ship(own, store, "db1")
    assert (found.sent, found.lost) == ((name,), (name,))
    assert ship(own, store, "db1").lost == ()


def test_what_is_in_a_store_may_be_damaged_or_anothers(tmp_path: Path) -> None:
    place = tmp_path / "store"
    ship(lake(tmp_path / "lake", **IS_ILL), store_at(str(place)), "db1")
    (bundle,) = place.rglob("*.zip")
    for name in ("20261120T220000Z-00000001", "20261120T220000Z-00000002", "20261120T220000Z-00000003"):
        bundle.with_name(f"{name}.zip").write_bytes({"1": b"no zip", "2": b"", "3": bundle.read_bytes()}[name[-1]])
    damaged = bytearray(bundle.read_bytes())
    damaged[len(damaged) // 2] ^= 0xFF
    bundle.with_name("20261120T220000Z-00000004.zip").write_bytes(damaged)
    there = Lake(Shipped(store_at(str(place)), "db1", tmp_path / "fetched"))
    assert rows_of(there)["cpu"] == SECONDS
    assert len(there.problems) == 4
    assert any("it says that it is" in problem for problem in there.problems)


def test_a_name_that_cannot_stand_in_a_key_is_refused(tmp_path: Path) -> None:
    own = lake(tmp_path / "lake")
    for name in ("../up", "a/b", "", ".hidden", "a b"):
        if name:
            with pytest.raises(UserError, match="cannot be a host's name"):
                ship(own, store_at(str(tmp_path / "store")), name)
    with pytest.raises(UserError, match="no lake here"):
        ship(tmp_path / "none", store_at(str(tmp_path / "store")), "db1")


def test_what_stands_in_the_lake_of_it_has_no_secret(address: str, tmp_path: Path) -> None:
    own = lake(tmp_path / "lake")
    ship(own, store_at(f"{address}/{tmp_path.name}"), "db1")
    (state,) = (own / "shipped").iterdir()
    told = json.loads(state.read_text())
    assert set(told) == {"place", "sent", "waiting"}
    assert "not-to-be-shown" not in state.read_text()


def test_settings_hold_from_when_the_recorder_began_however_long_ago(tmp_path: Path) -> None:
    store = store_at(str(tmp_path / "store"))
    setting = {"component": "postgresql", "db": "postgresql:5432", "name": "work_mem", "value": "64", "host": "db1"}
    for days, told in ((20, {"setting": [setting], "event": [BEGAN]}), (0, tables(None))):
        own = tmp_path / f"lake{days}"
        at = int((moment(0) - timedelta(days=days)).timestamp() * 1e6)
        with LakeWriter(own) as writer:
            for name, these in told.items():
                writer.append(rows(name, [row if "ts" in row else {**row, "ts": at} for row in these]))
        ship(own, store, "db1")
    there = Lake(Shipped(store, "db1", tmp_path / "fetched"))
    dataset = there.dataset(moment(0), moment(SECONDS))
    assert dataset.frame("setting")["value"].to_list() == ["64"]
    assert there.problems == []
    # Another recorder began on that day, but later than what is asked for.
    with LakeWriter(tmp_path / "later") as writer:
        writer.append(rows("event", [{**BEGAN, "ts": int(moment(3600).timestamp() * 1e6)}]))
    ship(tmp_path / "later", store, "db1")
    asked = Lake(Shipped(store, "db1", tmp_path / "again")).dataset(moment(0), moment(SECONDS))
    assert asked.frame("setting")["value"].to_list() == ["64"]
