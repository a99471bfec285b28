"""One question to many hosts, in processes of their own."""

import json
from pathlib import Path

import pytest

from in_process import doctord
from incident_recordings import SECONDS, lake

IN_IT = ("--from", "2026-11-20T22:00:00Z", "--to", "2026-11-20T22:03:20Z")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fleet")
    for number in range(4):
        lake(folder / f"db{number}", event="tuple" if number < 3 else None, begin=0, end=SECONDS, seed=number)
    (folder / "torn" / "sealed" / "cpu" / "2026-11-20").mkdir(parents=True)
    (folder / "torn" / "sealed" / "cpu" / "2026-11-20" / "20261120T220000Z-1f2e3d4c.parquet").write_bytes(b"PAR1")
    return folder


def test_it_is_read_on_a_terminal(place: Path) -> None:
    told = doctord("fleet", "diagnose", place, *IN_IT)
    assert told.returncode == 1
    assert "3 of 5 hosts are not healthy" in told.stdout
    assert "3 hosts  row_locks, critical" in told.stdout
    assert f"doctorddiagnose--lake{place}/db" in "".join(told.stdout.split())
    assert "torn  " in told.stdout
    assert max(map(len, told.stdout.splitlines())) <= 80


def test_the_document_has_each_host(place: Path) -> None:
    told = doctord("fleet", "diagnose", place, *IN_IT, "--host", "db*", "--processes", "1", "--json")
    document = json.loads(told.stdout)
    assert document["healthy"] is False
    assert {one["host"]: one["health"] for one in document["hosts"]} == {
        "db0": "not_healthy", "db1": "not_healthy", "db2": "not_healthy", "db3": "healthy",
    }  # fmt: skip
    first = document["hosts"][0]["findings"][0]
    assert (first["cause"], first["severity"], first["time_of"]) == ("row_locks", "critical", "database")
    (shared,) = document["shared"]
    assert (shared["cause"], len(shared["hosts"]), shared["common"]) == ("row_locks", 3, None)


def test_its_exit_status_is_that_of_the_worst(place: Path) -> None:
    assert doctord("fleet", "diagnose", place, *IN_IT, "--host", "db3").returncode == 0
    torn = doctord("fleet", "diagnose", place, *IN_IT, "--host", "db3", "--host", "torn")
    assert torn.returncode == 2
    assert "no verdict on 1 of 2 hosts" in torn.stdout
    assert doctord("fleet", "diagnose", place / "none", *IN_IT).returncode == 2


def test_what_of_a_lake_could_not_be_read_is_told_beside_its_verdict(tmp_path: Path) -> None:
    own = lake(tmp_path / "db9", event=None)
    whole = next((own / "sealed").glob("disk/*/*.parquet"))
    whole.with_name("20261120T220500Z-1f2e3d4c.parquet").write_bytes(b"PAR1")
    told = doctord("fleet", "diagnose", tmp_path, *IN_IT)
    assert told.returncode == 0
    assert "TOLD BESIDE THE VERDICT" in told.stdout
    assert "20261120T220500Z-1f2e3d4c.parquet" in "".join(told.stdout.split())


def test_one_page_of_all_hosts(place: Path, tmp_path: Path) -> None:
    page = tmp_path / "fleet.html"
    told = doctord("fleet", "report", place, *IN_IT, "-o", page, "--processes", "2")
    assert (told.returncode, told.stdout) == (1, f"3 of 5 hosts are not healthy\n{page}\n")
    text = page.read_text()
    assert '<h1 class="not-healthy">' in text
    assert "row_locks, as above" in text
    assert "no verdict" in text
    assert "<script" not in text
    document = json.loads(doctord("fleet", "report", place, *IN_IT, "-o", page, "--host", "db3", "--json").stdout)
    assert [one["host"] for one in document["hosts"]] == ["db3"]
    assert [one["host"] for one in document["forecast"]["hosts"]] == ["db3"]


def test_names_of_strangers_are_text_on_the_page(tmp_path: Path) -> None:
    lake(tmp_path / "db-<b>", event="tuple", begin=0, end=SECONDS)
    page = tmp_path / "fleet.html"
    doctord("fleet", "report", tmp_path, *IN_IT, "-o", page, "--processes", "1")
    assert "db-&lt;b&gt;" in page.read_text()
    assert "<b>" not in page.read_text()


def test_a_change_on_some_hosts(place: Path) -> None:
    periods = (
        "--before",
        "2026-11-20T22:00Z..2026-11-20T22:01:40Z",
        "--after",
        "2026-11-20T22:01:40Z..2026-11-20T22:03:20Z",
    )
    told = doctord("fleet", "study", place, *periods, "--changed", "db3", "--host", "db*")
    assert told.returncode == 2
    assert told.stdout.startswith("Not comparable: of the changed hosts 1 could be compared, 3 are wanted")
    assert doctord("fleet", "study", place, *periods, "--changed", "nobody").returncode == 2


def test_what_comes_next_and_what_settings_are_wrong_where_nothing_is_known(place: Path) -> None:
    ahead = doctord("fleet", "forecast", place, "--host", "db*")
    assert ahead.returncode == 2
    assert "3 min 19 s of history" in ahead.stdout
    linted = doctord("fleet", "lint", place, *IN_IT, "--host", "db*")
    assert linted.returncode == 2
    assert linted.stdout.startswith("No setting is known of 4 hosts")
