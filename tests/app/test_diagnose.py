"""Several sources judged together: each over its own time."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from doctord.app.asked import ALL, Interval
from doctord.app.diagnose import Examination, diagnose
from doctord.app.source import Files, Seen
from doctord.app.watcher import SILENT, Watcher
from doctord.dataset.dataset import Dataset
from doctord.errors import UserError
from heard import Heard
from reading import SAMPLES

AWR = SAMPLES / "awr.html"  # shop-db, 2024-03-02 09:00:10 to 10:00:10


def mpstat(folder: Path, begin: str, *, minutes: int = 10, idle_pct: float = 60.0) -> Path:
    """What `mpstat -P ALL 60` prints on the report's host, from a moment on."""
    start = datetime.fromisoformat(begin)
    lines = [f"Linux 5.14.0 (shop-db) \t{start:%m/%d/%y} \t_x86_64_\t(2 CPU)", ""]
    for minute in range(minutes):
        before, at = (start + timedelta(minutes=minute + step) for step in (0, 1))
        lines.append(f"{before:%H:%M:%S}     CPU    %usr   %nice    %sys %iowait   %idle")
        lines += [f"{at:%H:%M:%S}     {cpu}  {100 - idle_pct:6.2f}    0.00    0.00    0.00  {idle_pct:6.2f}"
                  for cpu in ("all", "  0", "  1")]  # fmt: skip
        lines.append("")
    path = folder / "mpstat.txt"
    path.write_text("\n".join(lines))
    return path


def told(found: Examination) -> dict[str, object]:
    """All that is said of the database: its time, who holds it, the findings with their figures."""
    diagnosis = found.diagnosis
    return {
        "time": [(one.event, pytest.approx(one.seconds_per_second)) for one in diagnosis.time],
        "top": [(one.name, pytest.approx(one.share), one.calls_per_s) for one in diagnosis.top],
        "findings": [(one.cause, one.impact, [item for item in (*one.for_, *one.against) if item.table != "cpu"])
                     for one in diagnosis.findings],
    }  # fmt: skip


@pytest.mark.parametrize("begin", ["2024-03-02 09:30:10", "2024-03-02 09:55:10", "2024-03-02 08:50:10"])
def test_a_report_says_the_same_with_an_mpstat_beside_it(tmp_path: Path, begin: str) -> None:
    alone = diagnose(Files([AWR]))
    both = diagnose(Files([AWR, mpstat(tmp_path, begin)]))
    assert told(both) == told(alone)


def test_a_minute_that_two_sources_tell_counts_once(tmp_path: Path) -> None:
    alone, both = diagnose(Files([AWR])), diagnose(Files([AWR, mpstat(tmp_path, "2024-03-02 09:30:10", idle_pct=5.0)]))
    (before, after) = (next(one.value for one in found.diagnosis.figures if one.name == "CPU used")
                       for found in (alone, both))  # fmt: skip
    assert after == pytest.approx(before)


def test_another_server_and_time_is_judged_for_itself_the_worst_first(tmp_path: Path) -> None:
    full = mpstat(tmp_path, "2026-11-20 09:00:00", idle_pct=1.0)
    full.write_text(full.read_text().replace("shop-db", "web01"))
    found = diagnose(Files([full, AWR]))
    (other,) = found.others
    assert told(found) == told(diagnose(Files([AWR])))
    assert (found.diagnosis.findings[0].severity, other.diagnosis.findings[0].severity) == ("critical", "warning")
    assert (other.diagnosis.host, [one.cause for one in other.diagnosis.findings]) == ("web01", ["cpu_saturated"])
    periods = [(f"{one.diagnosis.since:%F %T}", f"{one.diagnosis.until:%F %T}") for one in (found, other)]
    assert periods == [
        ("2024-03-02 09:00:10", "2024-03-02 10:00:10"),
        ("2026-11-20 09:00:00", "2026-11-20 09:10:00"),
    ]


def test_one_file_of_two_hosts_is_judged_host_by_host() -> None:
    found = diagnose(Files([SAMPLES / "many_hosts.pdsh.txt"]))
    (other,) = found.others
    assert (found.diagnosis.host, [one.cause for one in found.diagnosis.findings]) == ("db2", ["device_saturated"])
    assert (other.diagnosis.host, other.diagnosis.health) == ("db1", "healthy")


def test_undated_lines_of_several_hosts_go_with_the_dated_file_of_each(tmp_path: Path) -> None:
    dated = mpstat(tmp_path, "2026-11-20 09:00:00")
    dated.write_text(dated.read_text().replace("shop-db", "web1"))
    found = diagnose(Files([SAMPLES / "many_hosts.ansible.txt", dated]))
    assert len(found.others) == 1
    hosts = {one.diagnosis.host: one.diagnosis for one in (found, *found.others)}
    assert set(hosts) == {"web1", "web2"}
    assert f"{hosts['web1'].until:%F %T}" == "2026-11-20 09:10:00"


def test_two_nodes_of_a_cluster_are_judged_together(tmp_path: Path) -> None:
    node = tmp_path / "node2.html"
    node.write_text(AWR.read_text().replace("shop-db", "shop-db2"))
    alone, both = diagnose(Files([AWR])), diagnose(Files([AWR, node]))
    assert both.others == ()
    assert both.diagnosis.host == "shop-db, shop-db2"
    spent = {one.event: one.seconds_per_second for one in alone.diagnosis.time}
    assert {one.event: one.seconds_per_second for one in both.diagnosis.time} == pytest.approx(
        {event: 2 * seconds for event, seconds in spent.items()}
    )


def test_an_undated_vmstat_does_not_stretch_the_period(tmp_path: Path) -> None:
    vmstat = tmp_path / "vmstat.txt"
    vmstat.write_text("""procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 1  0      0 239471    704 611248    0    0     9    43   24    82  9 14 76  1  0
 1  0      0 239471    704 611248    0    0     9    43   24    82  9 14 76  1  0
 1  0      0 239471    704 611248    0    0     9    43   24    82  9 14 76  1  0
""")
    found = diagnose(Files([AWR, vmstat]))
    assert (found.others, f"{found.diagnosis.until:%F %T}") == ((), "2024-03-02 10:00:10")
    assert found.seen.dataset.frame("memory").height


def test_an_interval_that_is_asked_for_leaves_out_the_times_of_others(tmp_path: Path) -> None:
    files = Files([AWR, mpstat(tmp_path, "2026-11-20 09:00:00")])
    heard = Heard()
    found = diagnose(files, Interval(datetime(2026, 11, 20, tzinfo=UTC)), heard)
    assert (found.others, f"{found.diagnosis.since:%F %T}") == ((), "2026-11-20 09:00:00")
    assert heard.notes[-1].startswith("shop-db, 2024-03-02 09:00:10 to ")
    assert heard.notes[-1].endswith("left out, for nothing of it is of the time that is asked for")
    with pytest.raises(UserError, match="nothing in these files is of"):
        diagnose(files, Interval(datetime(2027, 11, 20, tzinfo=UTC)))


class OfMinutes:
    """A recording of a day: one session at work, and for ten minutes of it so many that wait for a row."""

    def __init__(self, waiting: int) -> None:
        self.waiting = waiting

    def seen(self, _asked: Interval = ALL, _watcher: Watcher = SILENT) -> Seen:
        start = datetime(2026, 11, 20, tzinfo=UTC)
        row = {"interval_s": 60.0, "host": "a", "db": "postgresql:5432", "kind": "client", "state": "active"}
        work = {"sid": 1, "wait_class": "CPU", "event": "CPU"}
        wait = {"wait_class": "Application", "event": "transactionid", "wait_kind": "row lock", "blocker_sid": 1}
        sessions = [row | work | {"ts": start + timedelta(minutes=at)} for at in range(1, 24 * 60 + 1)]
        sessions += [
            row | wait | {"ts": start + timedelta(minutes=600 + at), "sid": 2 + sid}
            for at in range(1, 11) for sid in range(self.waiting)
        ]  # fmt: skip
        return Seen(Dataset.from_rows(session=sessions), host="a")

    def each(self, _asked: Interval = ALL, _watcher: Watcher = SILENT) -> list[Seen]:
        return [self.seen()]


def test_ten_bad_minutes_of_a_day_are_judged_for_themselves() -> None:
    found = diagnose(OfMinutes(waiting=6))
    (day,) = found.others
    assert (f"{found.diagnosis.since:%T}", f"{found.diagnosis.until:%T}") == ("10:00:00", "10:10:00")
    assert (found.diagnosis.findings[0].cause, found.healthy) == ("row_locks", False)
    assert day.healthy
    assert day.diagnosis.findings == ()


def test_what_the_whole_tells_already_is_not_told_again() -> None:
    found = diagnose(OfMinutes(waiting=60))
    assert found.others == ()
    assert [one.cause for one in found.diagnosis.findings] == ["row_locks"]


def test_a_day_without_a_bad_time_is_judged_as_a_whole() -> None:
    assert diagnose(OfMinutes(waiting=0)).others == ()
