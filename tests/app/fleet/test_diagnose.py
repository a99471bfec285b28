from pathlib import Path

import pytest

from doctord.app.asked import Interval
from doctord.app.fleet.diagnose import Verdict, diagnose_fleet
from doctord.app.fleet.hosts import Chosen, Host, hosts_of
from doctord.dataset.rows import rows
from doctord.diagnose.finding import NOT_MEASURED, Finding
from doctord.lake.writer import LakeWriter
from heard import Heard
from here import Here
from incident_recordings import END, SECONDS, lake, moment, tables

IN_IT = Interval(moment(0), moment(SECONDS))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nine hosts: three that share an array wait for row locks, one for tables, one tells nothing."""
    folder = tmp_path_factory.mktemp("fleet")
    for number in range(8):
        event = "tuple" if number < 3 else "relation" if number == 3 else None
        lake(folder / f"db{number}", event=event, begin=0, end=SECONDS, seed=number)
    (folder / "mute" / "sealed" / "cpu").mkdir(parents=True)
    (folder / "labels.csv").write_text("host,role,array\n*,oltp,a1\ndb0,,a2\ndb1,,a2\ndb2,,a2\n")
    return folder


def hosts(place: Path, *names: str) -> list[Host]:
    return hosts_of(str(place), Chosen(names), None, Heard())


def test_the_worst_come_first_and_what_they_share_is_said_once(place: Path) -> None:
    found = diagnose_fleet(str(place), hosts(place), IN_IT, Here(), Heard())
    assert found.healthy is False
    assert {host.name for host, _ in found.ill} == {"db0", "db1", "db2", "db3"}
    (shared,) = found.shared
    assert (shared.cause, set(shared.hosts), shared.severity) == ("row_locks", {"db0", "db1", "db2"}, "critical")
    assert [(host.name, failed.reason[:20]) for host, failed in found.failed] == [("mute", "nothing was recorded")]
    verdicts = {host.name: verdict for host, verdict in found.hosts}
    assert verdicts["db3"].causes
    assert all(not finding.for_ for verdict in verdicts.values() for finding in verdict.findings)
    assert verdicts["db5"].health == "healthy"
    assert verdicts["db5"].signs["transactions"] == pytest.approx(100, rel=0.02)


def test_what_few_have_is_theirs_alone(place: Path) -> None:
    found = diagnose_fleet(str(place), hosts(place, "db1", "db2", "db7"), IN_IT, Here())
    assert (len(found.ill), found.shared) == (2, ())


def test_a_host_without_a_verdict_is_no_clean_bill(place: Path) -> None:
    assert diagnose_fleet(str(place), hosts(place, "db5", "db6"), IN_IT, Here()).healthy is True
    found = diagnose_fleet(str(place), hosts(place, "db5", "mute"), IN_IT, Here())
    assert (found.healthy, found.unjudged) == (None, 1)


def test_a_verdict_of_a_part_of_the_time_is_told_as_such(place: Path) -> None:
    longer = Interval(moment(0), moment(10 * SECONDS))
    found = diagnose_fleet(str(place), hosts(place, "db5"), longer, Here())
    assert [name for name, _ in found.partly] == ["db5"]
    assert diagnose_fleet(str(place), hosts(place, "db5"), IN_IT, Here()).partly == []


def test_what_a_mere_note_explains_is_told_where_it_is_all() -> None:
    finding = Finding(
        "logins_slow",
        "slow",
        "warning",
        NOT_MEASURED,
        0.9,
        (),
        (),
        (),
        (),
        (),
        (),
        explained_by="accept_queue_overflow",
    )
    verdict = Verdict("not_healthy", moment(0), moment(SECONDS), "database", (finding,), {})
    assert verdict.causes == [finding]
    assert verdict.worst is finding


def test_interrupted_it_tells_what_is_known(place: Path) -> None:
    watcher = Heard()
    found = diagnose_fleet(str(place), hosts(place, "db4", "db5", "db6"), IN_IT, Here(until=1), watcher)
    assert [host.name for host, _ in found.hosts] == ["db4"]
    assert [host.name for host, _ in found.failed] == ["db5", "db6"]
    assert (found.healthy, watcher.notes) == (None, ["interrupted: this is of the hosts that were done by then"])


def test_a_time_of_day_is_that_of_the_lake_that_ends_last(place: Path) -> None:
    asked = Interval.asked("22:00", f"22:{END // 60:02}")
    found = diagnose_fleet(str(place), hosts(place, "mute", "db5"), asked, Here(), Heard())
    assert found.since == moment(0)
    assert [host.name for host, _ in found.hosts] == ["db5"]


def test_a_lake_of_two_hosts_is_not_judged_as_one(tmp_path: Path) -> None:
    with LakeWriter(tmp_path / "both") as writer:
        for name, told in tables(None).items():
            writer.append(rows(name, told))
            writer.append(rows(name, [{**row, "host": "db2"} for row in told]))
    found = diagnose_fleet("both", hosts(tmp_path), IN_IT, Here(), Heard())
    assert "tells of 2 hosts: db1, db2" in found.failed[0][1].reason
