"""What was shipped is compacted, and judged as before."""

import json
from pathlib import Path

from in_process import doctord
from incident_recordings import SECONDS, lake

IN_IT = ("--from", "2026-11-20T22:00:00Z", "--to", "2026-11-20T22:03:20Z")


def test_compacted_told_and_judged(tmp_path: Path) -> None:
    own, place = lake(tmp_path / "lake", event="tuple", begin=0, end=SECONDS), tmp_path / "fleet"
    asked = ("diagnose", "--lake", place, "--host", "db1", *IN_IT, "--json")
    doctord("ship", "--lake", own, "--to", place, "--as", "db1")
    before = json.loads(doctord(*asked).stdout)
    told = doctord("compact", place, "--settle", "0s", "--keep", "9000d")
    assert told.returncode == 0
    assert "1 segment of 2026-11-20" in told.stdout
    after = json.loads(doctord(*asked).stdout)
    assert after["findings"] == before["findings"] != []
    assert after["figures"] == before["figures"]
    again = json.loads(doctord("compact", place, "--settle", "0s", "--json").stdout)
    assert (again["bundles"], again["refused"]) == (0, [])
    fleet = json.loads(doctord("fleet", "diagnose", place, *IN_IT, "--json").stdout)
    assert [one["host"] for one in fleet["hosts"]] == ["db1"]


def test_what_is_left_out_is_told(tmp_path: Path) -> None:
    place = tmp_path / "fleet"
    doctord("ship", "--lake", lake(tmp_path / "lake"), "--to", place, "--as", "other")
    told = doctord("compact", place, "--settle", "0s")
    assert told.returncode == 2
    assert "Nothing new of days that ended" in told.stdout
    assert "its rows are of db1" in " ".join(told.stdout.split())
    assert max(map(len, told.stdout.splitlines())) <= 80
