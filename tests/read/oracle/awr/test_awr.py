"""AWR reports in HTML."""

import quopri
import re
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from doctord.dataset.dataset import Dataset
from doctord.errors import UserError
from doctord.read.formats import Reading, read_file
from doctord.read.moments import ZONE_ASSUMED
from doctord.read.oracle.awr.histograms import ROUNDED
from latency_files import buckets, latencies, read_text, reasons
from reading import SAMPLES
from shared import CORPUS, sample

END = datetime(2024, 3, 2, 10, 0, 10, tzinfo=UTC)
HISTOGRAMS = """<html><head><title>AWR Report for DB: PRD, Inst: prd1, Snaps: 1-2</title></head><body>
<h1>WORKLOAD REPOSITORY report for</h1>
<table><tr><td>Begin Snap:</td><td>1</td><td>23-Jan-22 10:00:39</td></tr>
<tr><td>End Snap:</td><td>2</td><td>23-Jan-22 11:00:39</td></tr></table>
<h3 class="awr">Wait Event Histogram</h3>{main}
<h3 class="awr">Wait Event Histogram (up to 32 ms)</h3>{fine}
<h3 class="awr">Service Statistics</h3><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>
</body></html>"""


def table(*rows: tuple[str, ...]) -> str:
    names, *held = rows
    lines = ["".join(f'<th id="{name}">{name.replace("<", "&lt;")}</th>' for name in names)]
    lines += ["".join(f"<td>{cell or '&nbsp;'}</td>" for cell in row) for row in held]
    return "<table><tr><td>&nbsp;</td><th>% of Total</th></tr><tr>" + "</tr><tr>".join(lines) + "</tr></table>"


def test_fine_tables_tell_what_wide_buckets_hold(tmp_path: Path) -> None:
    main = table(
        ("Event", "Total Waits", "<512us", ">=512us"), ("read", "1,000", "60.0", "40.0"), ("x", "3", "", "100")
    )
    fine = table(
        ("Event", "Waits 1ms to 2ms", "<512us", "<1ms", "<2ms", ">=2ms"), ("read", "400", "60.0", "", "30.0", "0.0(7)")
    )
    reading = read_text(tmp_path, HISTOGRAMS.format(main=main, fine=fine) + "End of Report")
    assert sorted(buckets(reading, "subject")) == [
        ("read", 0.0, 512.0, 600),
        ("read", 1024.0, 2048.0, 300),
        ("read", 2048.0, None, 7),
        ("x", 512.0, None, 3),
    ]
    assert reasons(reading) == [ZONE_ASSUMED, ROUNDED]
    assert latencies(reading)["db"].unique().to_list() == ["oracle:PRD"]


def test_a_histogram_without_a_number_of_waits_is_told(tmp_path: Path) -> None:
    main = table(("Event", "Total Waits", "<512us", ">=512us"), ("read", "10", "100", ""), ("y", "many", "1", "2"))
    reading = read_text(tmp_path, HISTOGRAMS.format(main=main, fine=""))
    assert buckets(reading, "subject") == [("read", 0.0, 512.0, 10)]
    assert "a histogram without a number of waits: 'y'" in reasons(reading)


def test_a_report_that_does_not_say_when_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="does not say from when to when"):
        read_text(tmp_path, HISTOGRAMS.format(main="", fine="").replace("End Snap", "End"))


def dataset(name: str) -> Dataset:
    return Dataset.from_batches(read_file(SAMPLES / name).batches)


def statistics(held: Dataset, instance: str | None = None) -> dict[str, float]:
    """Values by name, or by name and entity in brackets; those at the end of the whole interval."""
    found = held.frame("statistic").filter(pl.col("entity").ne_missing("ten minutes"))
    if instance:
        found = found.filter(instance=instance)
    names = pl.concat_str("name", pl.concat_str(pl.lit("["), "entity", pl.lit("]")).fill_null(""))
    return dict(found.select(names, "value").iter_rows())


def everything(reading: Reading) -> dict[str, list[tuple[object, ...]]]:
    held = Dataset.from_batches(reading.batches)
    return {name: sorted(held.frame(name).rows(), key=repr) for name in held.tables}


def test_waits_of_an_instance() -> None:
    found = dataset("awr.html").frame("wait")
    assert found.select(
        "event", "kind", "wait_class", "waits_per_s", "avg_wait_ms", "average_active_sessions"
    ).rows() == [
        ("db file sequential read", "foreground", "User I/O", 1000.0, pytest.approx(0.5), 0.5),
        ("log file sync", "foreground", "Commit", 20.0, 10.0, 0.2),
        ("enq: TX - row lock contention", "foreground", "Application", 0.01, 25_000.0, 0.25),
        ("SQL*Net message to client", "foreground", "Network", 2000.0, pytest.approx(0.000555), pytest.approx(0.00111)),
        (
            "SQL*Net message from client",
            "foreground",
            "Idle",
            2000.0,
            pytest.approx(250 / 7.2),
            pytest.approx(250 / 3.6),
        ),
        ("log file parallel write", "background", "System I/O", 20.0, pytest.approx(1.5), 0.03),
        ("rdbms ipc message", "background", "Idle", pytest.approx(100_000 / 3600), pytest.approx(900.0), 25.0),
        ("CPU", "foreground", "CPU", None, None, 1.0),
        ("CPU", "background", "CPU", None, None, pytest.approx(200 / 3600)),
    ]
    assert set(found["db"]) == {"oracle:SHOP"}
    assert set(found["host"]) == {"shop-db"}
    assert set(found["instance"]) == {"shop1"}
    assert set(found["ts"]) == {END}
    assert found.filter(event="enq: TX - row lock contention")["timeouts_per_s"].to_list() == [0.005]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("v$sys_time_model.DB time", 2.0),
        ("v$sys_time_model.parse time elapsed", 0.01),
        ("v$sysstat.redo size", 250_000.0),
        ("v$sysstat.session logical reads", 40_000.0),  # in the load profile only
        ("v$sysstat.physical read bytes", 5 * 1048576.0),
        ("v$sysstat.logons current", 95.0),
        ("load_profile.transactions", 20.0),
        ("thread_activity.log switches (derived)", 0.005),
        ("instance_efficiency.In-memory Sort %", 100.0),
        ("io_profile.Database write bytes", 1048576.0),
        ("memory.SGA use", 8192 * 1048576.0),
        ("memory.% Host Mem used for SGA+PGA", 31.0),
        ("v$sga.Buffer Cache", 6208 * 1048576.0),
        ("v$sga.Log Buffer", 16384 * 1024.0),
        ("v$osstat.BUSY_TIME", 2.0),
        ("v$osstat.LOAD", 3.0),
        ("v$osstat.VM_IN_BYTES", 10.0),
        ("v$service_stats.physical reads[till]", 1000.0),
        ("v$iostat_function.read_bytes[Buffer Cache Reads]", 28.1 * 1024**3 / 3600),
        ("v$iostat_function.writes[LGWR]", 20.0),
        ("v$iostat_function.wait_ms[Buffer Cache Reads]", 0.5),
        ("tablespace_io.reads[TILL:SALES]", 1000.0),
        ("tablespace_io.read_ms[SYSTEM]", 0.4),
        ("v$pga_target_advice.estd_overalloc_count[1024]", 3.0),
        ("v$enqueue_stat.wait_time[TX-Transaction (row lock contention)]", 0.25),
        ("v$enqueue_stat.avg_wait_ms[TX-Transaction (row lock contention)]", 25_000.0),
        ("v$undostat.undo_blocks[2]", 1.0),
        ("v$undostat.ssolderrcnt[2]", 1 / 3600),
        ("v$latch.gets[cache buffers chains]", 80_000.0),
        ("v$latch.misses[cache buffers chains]", 8.0),
        ("v$latch.wait_time[cache buffers chains]", 0.005),
        ("v$mutex_sleep.wait_time[Cursor Pin kksfbc [KKSCHLPIN1]]", 0.002),
        ("v$segment_statistics.row lock waits[TILL:POS.SALE.P2024]", 0.01),
        ("v$sqlstats.gets[7abc123def456]", 20_000.0),
        ("v$sqlstats.user_io_wait_time[7abc123def456]", 0.3),
        ("sql_module.elapsed time[till]", 1.0),
        ("sql_module.cpu time[till]", 0.6),
        ("v$system_wait_class.time_waited[Commit]", 0.2),
        ("A Section of Tomorrow.Quantity[two]", 3400.0),
        ("A Section of Tomorrow.Mean[one]", 12.5),
        ("reconcile.unaccounted", 2.0 - 1.0 - 0.5 - 0.2 - 0.25 - 0.00111),
    ],
)
def test_statistics_of_an_instance(name: str, value: float) -> None:
    assert statistics(dataset("awr.html"))[name] == pytest.approx(value)


def test_what_adds_others_up_is_left_out() -> None:
    assert [name for name in statistics(dataset("awr.html")) if "TOTAL" in name] == []


def test_undo_has_its_own_steps() -> None:
    found = dataset("awr.html").frame("statistic").filter(entity="ten minutes", name="v$undostat.undo_blocks")
    assert [(str(ts), value) for ts, value in found.select("ts", "value").rows()] == [
        ("2024-03-02 09:58:00+00:00", 1.0),
        ("2024-03-02 09:48:00+00:00", 1.0),
    ]


def test_steps_of_undo_do_not_stretch_the_report(tmp_path: Path) -> None:
    """The server's ten minutes begin before the report does, and end after it."""
    text = (
        (SAMPLES / "awr.html")
        .read_text()
        .replace("02-Mar 09:58", "02-Mar 10:08")
        .replace("02-Mar 09:48", "02-Mar 09:08")
    )
    report = tmp_path / "awr.html"
    report.write_text(text)
    held = Dataset.from_batches(read_file(report, zone="UTC").batches)
    assert (str(held.since), str(held.until)) == ("2024-03-02 09:00:10+00:00", "2024-03-02 10:00:10+00:00")
    steps = held.frame("statistic").filter(entity="ten minutes", name="v$undostat.undo_blocks")
    assert steps.select(pl.col("ts").cast(str), "interval_s", "value").rows() == [
        ("2024-03-02 10:00:10.000000+00:00", 130.0, 1.0),
        ("2024-03-02 09:08:00.000000+00:00", 470.0, 1.0),
    ]
    report.write_text(text.replace("02-Mar 10:08", "02-Mar 10:28"))
    held = Dataset.from_batches(read_file(report, zone="UTC").batches)
    assert held.frame("statistic").filter(entity="ten minutes", name="v$undostat.undo_blocks").height == 1


def test_statements_are_merged_over_sections_without_constants() -> None:
    found = dataset("awr.html").frame("statement")
    columns = ("statement_id", "database", "text", "calls_per_s", "elapsed_s_per_s", "cpu_s_per_s", "rows_per_s")
    assert found.select(*columns).rows() == [
        ("7abc123def456", "TILL", "select * from sale where id = ? and shop = ?", 10.0, 1.0, 0.6, 20.0),
        ("8abc123def456", "TILL", "begin nightly; end;", None, 0.2, 0.1, None),
    ]


def test_host_between_snapshots() -> None:
    held = dataset("awr.html")
    assert held.frame("cpu").select("interval_s", "usr_pct", "sys_pct", "wait_io_pct", "idle_pct").rows() == [
        (1800.0, 16.0, 4.0, 4.0, 76.0),
        (1800.0, 24.0, 6.0, 6.0, 64.0),
    ]
    assert held.frame("memory").select("total_bytes", "free_bytes").rows() == [(33_554_432_000, 1_073_741_824)]


def test_settings_and_what_changed() -> None:
    held = dataset("awr.html")
    settings = dict(held.frame("setting").select("name", "value").rows())
    assert settings["report.version"] == "19.0.0.0.0"
    assert {"open_cursors": "500", "db_block_size": "8192", "TILL:sga_target": "4294967296"}.items() <= settings.items()
    assert sorted(held.frame("event").select("kind", "subject", "text").rows()) == [
        ("restart", "shop1", "instance shop1 was started"),
        ("settings change", "open_cursors", "open_cursors was 300, is 500"),
    ]


def test_before_11g_background_waits_are_taken_off() -> None:
    found = dataset("awr.10g.html").frame("wait").filter(kind="foreground")
    assert found.select("event", "wait_class", "waits_per_s", "avg_wait_ms", "average_active_sessions").rows() == [
        ("db file sequential read", "User I/O", 50.0, 4.0, 0.2),
        ("enq: TX - row lock contention", "Application", 0.01, 2778.0, pytest.approx(100 / 3600, rel=1e-3)),
        ("SQL*Net message from client", "Idle", pytest.approx(100_000 / 3600), 300.0, pytest.approx(30_000 / 3600)),
        ("CPU", "CPU", None, None, 0.25),
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("v$sys_time_model.DB time", 0.5),
        ("v$sga.Buffer Cache", 528 * 1048576.0),
        ("v$sga.Log Buffer", 14_376 * 1024.0),
        ("instance_efficiency.Buffer Hit %", 97.0),
        ("shared_pool.Memory Usage %", 85.0),
        ("v$sysstat.session logical reads", 5000.0),
        ("v$latch.get_miss_pct[library cache]", 0.5),
        ("v$osstat.NUM_CPUS", 2.0),
    ],
)
def test_titles_alone_tell_sections_where_there_are_no_summaries(name: str, value: float) -> None:
    assert statistics(dataset("awr.10g.html"))[name] == pytest.approx(value)


def test_a_cluster_has_its_instances() -> None:
    held = dataset("awr.rac.html")
    first, second = statistics(held, "duo1"), statistics(held, "duo2")
    assert (first["v$sys_time_model.DB time"], second["v$sys_time_model.DB time"]) == (1.0, 0.5)
    assert second["v$sysstat.redo size"] == pytest.approx(176_074 * 1024 / 3606)
    assert first["gc_workload.Avg global cache cr block receive time"] == pytest.approx(0.313)
    assert first["top_timed_events.time_waited[gc buffer busy acquire]"] == pytest.approx(800 / 3600)
    assert first["v$iostat_function.write_bytes[LGWR]"] == pytest.approx(0.1 * 1048576)
    rows = held.frame("statistic").filter(pl.col("name").is_in(["v$sysstat.redo size", "v$sysstat.user commits"]))
    assert sorted(rows.select("name", "instance").rows(), key=str) == [
        ("v$sysstat.redo size", "duo1"),
        ("v$sysstat.redo size", "duo2"),
        ("v$sysstat.user commits", None),
    ]
    assert held.frame("wait").filter(event="gc buffer busy acquire").select("instance", "waits_per_s").rows() == [
        (None, pytest.approx(50_000 / 3606))
    ]
    assert held.frame("wait").filter(event="CPU", kind="foreground")["average_active_sessions"].to_list() == [0.75]
    assert held.frame("cpu").select("host", "usr_pct", "idle_pct").rows() == [
        ("left", 20.0, 72.0),
        ("right", 10.0, 86.5),
    ]
    undo = held.frame("setting").filter(name="undo_tablespace").select("instance", "value").rows()
    assert undo == [("duo1", "UNDO1"), ("duo2", "UNDO2")]


def test_periods_that_are_compared_have_each_its_time() -> None:
    held = dataset("awr.compare.html")
    later = datetime(2024, 3, 3, 9, 30, 10, tzinfo=UTC)
    waits = held.frame("wait").filter(pl.col("event") != "CPU")
    assert waits.select("ts", "event", "kind", "waits_per_s", "avg_wait_ms", "average_active_sessions").rows() == [
        (END, "db file sequential read", None, 1000.0, 0.5, 0.5),
        (later, "db file sequential read", None, 2000.0, 1.0, 2.0),
        (later, "log file sync", None, 20.0, 20.0, 0.4),
    ]
    values = held.frame("statistic").select("name", "ts", "value").rows()
    for name, ts, value in [
        ("v$sys_time_model.DB time", END, 2.0),
        ("v$sys_time_model.DB time", later, 4.0),
        ("v$sysstat.redo size", later, 300_000.0),
        ("v$sysstat.session logical reads", END, 40_000.0),
        ("v$instance_recovery.estimated_mttr", END, 21.0),
        ("v$instance_recovery.estimated_mttr", later, 31.0),
    ]:
        assert (name, ts, value) in values
    assert held.frame("statement").select("ts", "calls_per_s", "elapsed_s_per_s").rows() == [
        (END, 10.0, 1.0),
        (later, 10.0, 3.0),
    ]


def commas(text: str) -> str:
    """The same report where decimals have a comma."""
    swap = str.maketrans(",.", ".,")
    figures = r">([\d.,]*\d[KMGT]?(?:us|ms|ns|s)?(?: \(mins\)|\(\d+\))?)<"
    cells = re.sub(figures, lambda cell: cell[0].translate(swap), text)
    return cells.replace("19,0,0,0,0", "19.0.0.0.0")


def test_decimals_with_a_comma_and_months_in_german(tmp_path: Path) -> None:
    text = (SAMPLES / "awr.html").read_text().replace("-Mar", "-Mär")
    assert everything(read_text(tmp_path, commas(text))) == everything(read_text(tmp_path, text))
    assert latencies(read_text(tmp_path, commas(text)))["ts"].unique().to_list() == [END]


def mailed(html: bytes) -> bytes:
    head = b"From: dba@example.org\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n--x\n"
    part = b"Content-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n"
    return head + part + quopri.encodestring(html) + b"\n--x--\n"


@pytest.mark.parametrize("wrapped", [mailed, quopri.encodestring])
def test_html_of_a_mail(tmp_path: Path, wrapped: "type[bytes]") -> None:
    html = (SAMPLES / "awr.html").read_bytes()
    assert everything(read_text(tmp_path, wrapped(html))) == everything(read_text(tmp_path, html))


def test_two_reports_in_one_file(tmp_path: Path) -> None:
    first, second = ((SAMPLES / name).read_bytes() for name in ("awr.html", "awr.10g.html"))
    held = Dataset.from_batches(read_text(tmp_path, first + second).batches)
    assert set(held.frame("wait")["db"]) == {"oracle:SHOP", "oracle:OLD"}
    doubled = read_text(tmp_path, first + first)
    assert everything(doubled) == everything(read_text(tmp_path, first))
    assert "the same report is in it more than once: read once" in doubled.notes


@pytest.mark.parametrize("name", ["awr.html", "awr.rac.html", "awr.compare.html", "awr.10g.html"])
def test_a_report_that_is_cut_off_gives_what_it_has(tmp_path: Path, name: str) -> None:
    whole = (SAMPLES / name).read_bytes()
    counts = []
    for percent in range(5, 100, 5):
        try:
            reading = read_text(tmp_path, whole[: len(whole) * percent // 100])
        except UserError:
            counts.append(0)
        else:
            counts.append(sum(len(batch) for batch in reading.batches))
    assert counts[-1] > 0.8 * sum(len(batch) for batch in read_text(tmp_path, whole).batches)
    assert counts == sorted(counts)


def test_nesting_without_end(tmp_path: Path) -> None:
    whole = (SAMPLES / "awr.html").read_bytes()
    deep = b"<table><tr><td colspan=999999999 rowspan=999999999>" * 50_000
    assert everything(read_text(tmp_path, whole + deep)) == everything(read_text(tmp_path, whole))


@pytest.mark.parametrize(
    ("name", "event", "end"),
    [
        ("DBS", "ADR block file read", "2022-01-26 10:00:35"),
        ("DBU", "ADR block file write", "2023-02-21 00:00:00"),
        ("DBY", "ADR file lock", "2023-02-22 00:00:00"),
    ],
)
def test_the_samples_sum_to_their_numbers_of_waits(name: str, event: str, end: str) -> None:
    file = sample(CORPUS / f"awr/Azure_AWR_{name}.html")
    found = latencies(read_file(file))
    text = file.read_text(errors="replace")
    section = text[re.search(r"<h3[^>]*>Wait Event Histogram", text, re.IGNORECASE).start() :]  # type: ignore[union-attr]
    total = re.search(rf">{event}</td>\s*<td[^>]*>([\d.]+)([KM]?)<", section, re.IGNORECASE)
    assert total is not None
    waits = float(total[1]) * {"": 1, "K": 1e3, "M": 1e6}[total[2]]
    assert found.filter(subject=event)["count"].sum() == pytest.approx(waits, rel=0.01)
    assert str(found["ts"][0])[:19] == end
    assert found["subject"].n_unique() > 100
    assert found.filter(pl.col("count") < 0).is_empty()
