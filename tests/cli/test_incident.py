"""Keep an incident, meet it again: the commands on lakes."""

import json
from pathlib import Path

import pytest

from doctord.dataset.rows import rows
from doctord.lake.writer import LakeWriter
from in_process import doctord
from incident_recordings import BEGIN as BEGIN_S
from incident_recordings import END as END_S
from incident_recordings import lake, moment, tables

BEGIN, END = "2026-11-20T22:01:40Z", "2026-11-20T22:02:20Z"
ASKED = ("--from", BEGIN, "--to", END)


@pytest.fixture
def met(tmp_path: Path) -> Path:
    """A lake of which an incident is kept."""
    place = lake(tmp_path / "first")
    kept = doctord(
        "incident", "add", "--lake", place, *ASKED, "--cause", "row_locks", "--name", "batch", "--note", "INC-1"
    )
    assert kept.returncode == 0
    assert kept.stderr.startswith("doctord: batch: ")
    return place


def test_it_is_listed_and_shown(met: Path) -> None:
    (told,) = json.loads(doctord("incident", "list", "--lake", met, "--json").stdout)["incidents"]
    assert (told["name"], told["cause"], told["note"], told["host"]) == ("batch", "row_locks", "INC-1", "db1")
    assert (told["since"], told["until"]) == (BEGIN, END)
    assert "batch" in doctord("incident", "list", "--lake", met).stdout
    shown = json.loads(doctord("incident", "show", "batch", "--lake", met, "--json").stdout)
    assert "database time" in [figure["name"] for figure in shown["figures"][:5]]
    assert "database time" in doctord("incident", "show", "batch", "--lake", met).stdout


def test_it_is_met_again_on_another_server_and_another_is_not(met: Path, tmp_path: Path) -> None:
    library = ("--library", met / "incidents")
    again = lake(tmp_path / "again", commits=180.0, ill_commits=180.0, seed=5)
    document = json.loads(doctord("diagnose", "--lake", again, *ASKED, *library, "--json").stdout)
    (nearest,) = document["resembles"]["nearest"]
    assert (nearest["name"], nearest["is_alike"]) == ("batch", True)
    assert "Resembles incident batch of 2026-11-20" in doctord("diagnose", "--lake", again, *ASKED, *library).stdout
    other = lake(tmp_path / "other", event="disk")
    document = json.loads(doctord("diagnose", "--lake", other, *ASKED, *library, "--json").stdout)
    assert [one["is_alike"] for one in document["resembles"]["nearest"]] == [False]
    assert "Does not resemble the one incident" in doctord("diagnose", "--lake", other, *ASKED, *library).stdout


def test_when_it_was_bad_is_found(met: Path) -> None:
    found = doctord("diagnose", "--find", "--lake", met, "--json")
    (interval,) = json.loads(found.stdout)["intervals"]
    assert found.returncode == 1
    assert interval["times"] == pytest.approx(9, abs=1.5)
    assert interval["since"][:18] == BEGIN[:18]
    assert interval["resembles"]["nearest"][0]["is_alike"]
    assert interval["diagnosis"]["host"] == "db1"
    text = doctord("diagnose", "--find", "--lake", met).stdout
    assert text.startswith("An interval in which clients waited longer than usual")
    assert "Resembles incident batch" in text


def test_nothing_stands_out_in_a_healthy_recording(tmp_path: Path) -> None:
    place = lake(tmp_path / "healthy", event=None)
    found = doctord("diagnose", "--find", "--lake", place)
    assert found.returncode == 0
    assert found.stdout.startswith("Nothing stands out")
    assert json.loads(doctord("diagnose", "--lake", place, *ASKED, "--json").stdout)["resembles"] is None


def test_a_library_goes_to_another_server(met: Path, tmp_path: Path) -> None:
    file = tmp_path / "site.json"
    assert doctord("incident", "export", "--lake", met, "-o", file).returncode == 0
    taken = doctord("incident", "import", file, "--library", tmp_path / "site")
    assert taken.stderr == f"doctord: 1 incident taken into {tmp_path / 'site'}\n"
    assert doctord("incident", "export", "--lake", met, "-o", file).returncode == 2
    assert doctord("incident", "import", file, file, "--library", tmp_path / "site").returncode == 2
    assert doctord("incident", "remove", "batch", "--library", tmp_path / "site").returncode == 0
    assert "holds no incident yet" in doctord("incident", "list", "--library", tmp_path / "site").stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--from", BEGIN, "--to", "2026-11-20T22:01:42Z"), "too short to be known again"),
        (("--from", "2026-11-21T22:00Z", "--to", "2026-11-21T22:10Z"), "nothing was recorded"),
        (("--from", END, "--to", BEGIN), "is not before"),
    ],
)
def test_what_cannot_be_kept_is_refused(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    refused = doctord("incident", "add", "--lake", lake(tmp_path / "lake"), *arguments, "--cause", "x")
    assert refused.returncode == 2
    assert said in refused.stderr
    assert not (tmp_path / "lake" / "incidents").exists()


def test_the_whole_of_a_recording_is_no_incident(tmp_path: Path) -> None:
    whole = ("--from", "2026-11-20T22:00Z", "--to", "2026-11-20T22:03:20Z")
    refused = doctord("incident", "add", "--lake", lake(tmp_path / "lake"), *whole, "--cause", "x")
    assert refused.returncode == 2
    assert "nothing tells what is usual" in refused.stderr


def test_too_short_a_recording_is_not_searched(tmp_path: Path) -> None:
    refused = doctord("diagnose", "--find", "--lake", lake(tmp_path / "lake", seconds=30, begin=10, end=20))
    assert refused.returncode == 2
    assert "less than a minute was measured" in refused.stderr


def test_without_commits_the_verdict_says_by_what_it_is(tmp_path: Path) -> None:
    place = tmp_path / "lake"
    with LakeWriter(place) as writer:
        for name, told in tables().items():
            if name == "wait":
                writer.append(rows(name, told))
    found = doctord("diagnose", "--find", "--lake", place)
    assert found.returncode == 1
    assert found.stdout.startswith("An interval in which active sessions were higher than usual")
    assert "times as many active sessions as usual" in " ".join(found.stdout.split())


def test_a_server_that_did_not_answer_is_no_clean_bill(tmp_path: Path) -> None:
    place, gone = tmp_path / "lake", (moment(BEGIN_S).timestamp() * 1e6, moment(END_S).timestamp() * 1e6)
    with LakeWriter(place) as writer:
        for name, told in tables(event=None).items():
            of_server = name in {"wait", "statistic"}
            kept = [row for row in told if not (of_server and gone[0] < row["ts"] <= gone[1])]
            writer.append(rows(name, kept))
    found = doctord("diagnose", "--find", "--lake", place)
    assert found.returncode == 2
    assert found.stdout.startswith("No verdict: clients waited about as long in what was seen")
    assert "Of 40 s nothing tells how clients did" in found.stdout
    assert json.loads(doctord("diagnose", "--find", "--lake", place, "--json").stdout)["unseen_s"] == 40.0
