"""What is recorded comes to a folder for all hosts, and is judged there."""

import json
from pathlib import Path

from in_process import doctord
from incident_recordings import SECONDS, lake

IN_IT = ("--from", "2026-11-20T22:00:00Z", "--to", "2026-11-20T22:03:20Z")


def test_sent_told_and_judged(tmp_path: Path) -> None:
    own, place = lake(tmp_path / "lake", event="tuple", begin=0, end=SECONDS), tmp_path / "fleet"
    told = doctord("ship", "--lake", own, "--to", place, "--as", "db1")
    assert (told.returncode, told.stdout) == (0, told.stdout)
    assert f"1 segment sent to {place} as db1" in " ".join(told.stdout.split())
    again = json.loads(doctord("ship", "--lake", own, "--to", place, "--as", "db1", "--json").stdout)
    assert again == {
        "place": str(place), "host": "db1", "sent": [], "sent_bytes": 0, "there": 0, "waiting": [], "lost": [],
    }  # fmt: skip
    found = doctord("diagnose", "--lake", place, "--host", "db1", *IN_IT)
    assert found.returncode == 1
    assert "row locks" in found.stdout
    fleet = doctord("fleet", "diagnose", place, *IN_IT)
    assert fleet.returncode == 1
    assert f"doctorddiagnose--lake{place}--hostdb1" in "".join(fleet.stdout.split())


def test_what_cannot_be_sent_is_told(tmp_path: Path) -> None:
    own = lake(tmp_path / "lake")
    (tmp_path / "file").write_text("in the way")
    told = doctord("ship", "--lake", own, "--to", tmp_path / "file", "--as", "db1", "--max-rate", "10MiB")
    assert told.returncode == 2
    assert "NOT SENT, TRIED AGAIN NEXT TIME" in told.stdout
    assert "1 segment, from 20261120T220" in told.stdout
    assert max(map(len, told.stdout.splitlines())) <= 80


def test_what_cannot_be_meant_is_refused(tmp_path: Path) -> None:
    own = lake(tmp_path / "lake")
    for to in ("gs://bucket", "s3://key:secret@bucket"):
        told = doctord("ship", "--lake", own, "--to", to)
        assert told.returncode == 2
        assert "hint: " in told.stderr
        assert "secret" not in told.stderr
    assert doctord("ship", "--lake", tmp_path / "none", "--to", tmp_path / "fleet").returncode == 2


def test_what_was_shipped_is_queried_and_compared_as_a_lake(tmp_path: Path) -> None:
    own, place = lake(tmp_path / "db1", event=None), tmp_path / "fleet"
    for name in ("db1", "db2"):
        doctord("ship", "--lake", lake(tmp_path / "of" / name, event=None), "--to", place, "--as", name)
    counted = doctord("sql", "select count(*) as rows from cpu", "--lake", place, "--host", "db1", "--csv")
    assert counted.stdout.split() == ["rows", str(SECONDS)]
    several = doctord("sql", "select 1", "--lake", place)
    assert (several.returncode, "2 hosts are told of: db1, db2" in several.stderr) == (2, True)
    refused = doctord("sql", "select 1", "--lake", own, "--host", "db1")
    assert (refused.returncode, "WHERE host = 'NAME'" in refused.stderr) == (2, True)
    periods = (
        "--before",
        "2026-11-20T22:00Z..2026-11-20T22:01:40Z",
        "--after",
        "2026-11-20T22:01:40Z..2026-11-20T22:03:20Z",
    )
    told = doctord("study", "--lake", place, "--host", "db1", *periods)
    assert (told.returncode, told.stdout[:13]) == (0, "No difference")
