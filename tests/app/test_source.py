"""Whatever measurements come from, the same is given."""

import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from doctord._native import Batch
from doctord.app import source
from doctord.app.asked import Interval
from doctord.app.diagnose import diagnose
from doctord.app.source import Files, Live, Recorded, source_of
from doctord.collect.core import schedule
from doctord.collect.core.collector import Collector
from doctord.collect.core.database import Unreached
from doctord.collect.core.notices import Notices
from doctord.collect.host import Host
from doctord.dataset.dataset import Dataset
from doctord.dataset.rows import now_us, rows
from doctord.errors import UserError
from doctord.lake.place import is_lake
from doctord.lake.writer import LakeWriter
from doctord.read.source import ReadOptions
from heard import Heard
from shared import CASEBOOK, sample

START = datetime(2026, 11, 20, 22, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def cpu(second: int) -> dict[str, object]:
    ts = START + second * SECOND
    return {"ts": int(ts.timestamp() * 1e6), "interval_s": 1.0, "host": "a", "usr_pct": 5.0, "idle_pct": 95.0}


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    with LakeWriter(tmp_path / "lake") as writer:
        writer.append(rows("cpu", [cpu(second) for second in range(1, 21)]))
    return tmp_path / "lake"


def seconds(dataset: Dataset) -> list[float]:
    return [(ts - START).total_seconds() for ts in dataset.frame("cpu")["ts"].sort()]


def test_a_live_look_asks_servers_that_start_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    def newcomers() -> list[Collector]:
        return [Unreached("late", late)] if (late := arrivals.pop() if arrivals else None) else []

    notices = Notices()
    notices.not_measured(None, "late", "it came late")
    arrivals = [notices]
    monkeypatch.setattr(schedule, "_LOOK_AROUND_S", 0.1)
    monkeypatch.setattr(Host, "collectors", lambda _: [Unreached("first", Notices())])
    monkeypatch.setattr(Host, "newcomers", lambda _: newcomers())
    seen = Live(5.0).seen()  # longer than a busy machine stands still
    assert seen.dataset.frame("event")["subject"].to_list() == ["late"]


def test_a_lake_gives_the_time_asked_for_and_what_was_before(lake: Path) -> None:
    seen = Recorded(lake).seen(Interval(START + 10 * SECOND, START + 20 * SECOND, past_s=4))
    assert seconds(seen.dataset) == list(range(11, 21))
    assert seconds(seen.earlier) == list(range(7, 11))
    assert seen.trace is None


def test_a_lake_of_two_hosts_is_parted_by_them(lake: Path) -> None:
    assert len(Recorded(lake).each(Interval(START, START + 20 * SECOND))) == 1
    with LakeWriter(lake) as writer:
        writer.append(rows("cpu", [cpu(second) | {"host": "b"} for second in range(5, 21)]))
    heard = Heard()
    found = Recorded(lake).each(Interval(START + 10 * SECOND, START + 20 * SECOND, past_s=4), heard)
    hosts = [set(seen.dataset.frame("cpu")["host"]) for seen in found]
    assert sorted(hosts, key=str) == [{"a"}, {"b"}]
    assert [seconds(seen.dataset) for seen in found] == [list(range(11, 21))] * 2
    assert [set(seen.earlier.frame("cpu")["host"]) for seen in found] == hosts
    assert heard.notes[0] == "these are 2 servers or times, and each of them is judged for itself"


def test_a_lake_without_rows_of_that_time_says_what_it_holds(lake: Path) -> None:
    with pytest.raises(UserError, match="nothing was recorded") as refused:
        Recorded(lake).seen(Interval(START - 2 * SECOND, START - SECOND))
    assert "2026-11-20 22:00:0" in refused.value.hint
    asked = re.search(r"--from (\S+) --to (\S+)$", refused.value.hint)
    assert asked
    last = Recorded(lake).seen(Interval.asked(*asked.groups())).dataset
    assert last.until == START + 20 * SECOND
    with pytest.raises(UserError, match="is not before"):
        Recorded(lake).seen(Interval(START, START))


def test_files_give_all_of_their_time_where_none_is_asked_for() -> None:
    files = Files([sample(CASEBOOK / "iosize" / "vxfs-1k.vxtrace")])
    whole = files.seen().dataset
    assert whole.since
    assert whole.until
    middle = whole.since + (whole.until - whole.since) / 2
    later = files.seen(Interval(middle))
    assert later.dataset.until == whole.until
    assert later.earlier.until
    assert later.earlier.until <= middle
    with pytest.raises(UserError, match="nothing in these files is of"):
        files.seen(Interval(whole.until + SECOND, whole.until + 2 * SECOND))
    with pytest.raises(UserError, match=r"UTC or later$"):
        files.seen(Interval(whole.until + SECOND))


def test_reading_tells_of_each_file_and_of_what_cannot_be_used(tmp_path: Path) -> None:
    shutil.copy(sample(CASEBOOK / "tlb" / "vmstat-1.txt"), tmp_path)
    (tmp_path / "nothing.txt").write_text("no tool prints this\n")
    heard = Heard()
    Files([tmp_path]).seen(watcher=heard)
    assert heard.told == [("Reading", 2, "files", [1, 2])]
    assert any("nothing.txt" in note for note in heard.notes)


def test_a_live_look_has_no_past() -> None:
    with pytest.raises(UserError, match="no past"):
        Live(1).seen(Interval(START))


@pytest.mark.parametrize("in_a_folder", [False, True])
def test_a_trace_keeps_its_diagnosis_beside_other_files(tmp_path: Path, *, in_a_folder: bool) -> None:
    paths = [sample(CASEBOOK / "listener" / name) for name in ("before.truss", "loop_times.dtrace")]
    if in_a_folder:
        for path in paths:
            shutil.copy(path, tmp_path)
        paths = [tmp_path]
    found = diagnose(Files(paths))
    assert found.seen.dataset.frame("latency").height, "the other file is there too"
    assert found.diagnosis.time_of == "pass"
    assert found.diagnosis.findings[0].cause == "single_threaded_limit"


def test_of_two_traces_the_one_with_most_calls_is_diagnosed() -> None:
    paths = [sample(CASEBOOK / "listener" / name) for name in ("before.truss", "after.truss")]
    heard = Heard()
    trace = Files(paths).seen(watcher=heard).trace
    assert trace
    assert trace["trace"]["files"] == [str(paths[0])]
    assert "2 call traces are here: before.truss, with most calls" in heard.notes[-1].replace(f"{paths[0].parent}/", "")


def test_beside_a_database_the_time_is_the_databases() -> None:
    paths = [sample(CASEBOOK / "listener" / "before.truss"), sample(CASEBOOK / "caching" / "statspack_top_events.txt")]
    diagnosis = diagnose(Files(paths)).diagnosis
    assert diagnosis.time_of == "database"
    of = {finding.cause: finding.time_of for finding in diagnosis.findings}
    assert of["too_many_single_block_reads"] is None
    assert of["single_threaded_limit"] == "pass"


def test_a_live_look_without_a_lake_knows_no_past(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCTORD_LAKE", str(lake))
    assert Live(0.1, databases=False).seen(Interval(past_s=1e9)).earlier.since is None
    assert Live(0.1, databases=False, lake=lake).seen(Interval(past_s=1e9)).earlier.since


def test_what_only_looks_like_a_lake_is_none(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "sealed" / "reports").mkdir(parents=True)
    for path in (tmp_path, tmp_path / "none", Path("-"), Path("x" * 300), Path("http://host:9090")):
        assert not is_lake(path)


def test_a_path_that_may_not_be_looked_into_is_no_lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: Path, *_: object) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_dir", refused)
    assert not is_lake(tmp_path)


def test_a_lake_stands_where_files_do(lake: Path) -> None:
    assert source_of([lake], None, ReadOptions()) == Recorded(lake)
    with pytest.raises(UserError, match="either files or a lake"):
        source_of([lake, lake], None, ReadOptions())
    with pytest.raises(UserError, match="either files or a lake"):
        source_of([lake / "a.txt"], lake, ReadOptions())


def test_an_interrupted_look_at_file_systems_alone_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are told at once; that nothing is wrong with them says nothing of the rest."""

    def interrupted(_collectors: object, _seconds: float, _progress: object, batches: list[Batch], *_: object) -> None:
        now = {"ts": now_us(), "interval_s": 1.5, "host": "vm"}
        batches.append(rows("filesystem", [now | {"mount": "/", "size_bytes": 100, "used_bytes": 10}]))
        raise KeyboardInterrupt

    monkeypatch.setattr(source, "collect_for", interrupted)
    with pytest.raises(UserError, match="interrupted before there was anything to judge"):
        Live(2, databases=False).seen()
