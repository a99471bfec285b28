"""What tkprof made of a SQL trace."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.read.formats import read_file
from doctord.report.phrases import said
from reading import SAMPLES, figure, picked, read_sample

SAMPLE = "tkprof.es.txt"


def test_statements_with_what_their_calls_took() -> None:
    reading = read_sample(SAMPLE, zone="UTC")
    assert (reading.format, reading.skipped_lines) == ("tkprof (Oracle)", 0)
    columns = ("ts", "interval_s", "db", "plan_id", "calls_per_s", "elapsed_s_per_s", "cpu_s_per_s", "rows_per_s")
    assert picked(reading, "statement", *columns, statement_id="7h35uxf5uhmm1") == [
        (datetime(2024, 5, 11, 9, 15, 30, tzinfo=UTC), 125.0, "oracle:shop1", "3724264953", 72.0, 0.088, 0.08, 72.0)
    ]
    assert figure(reading, "v$sqlstats.gets", entity="7h35uxf5uhmm1") == [7200.0]
    assert figure(reading, "v$sqlstats.loads", entity="7h35uxf5uhmm1") == [2 / 125]


def test_a_statement_without_its_sql_id_is_named_by_its_text_which_has_no_constants() -> None:
    held = dict(picked(read_sample(SAMPLE), "statement", "statement_id", "text"))
    assert len(held) == 3
    (named,) = held.keys() - {"7h35uxf5uhmm1", "1a2g3z4rj1uq2"}
    assert len(named) == 16
    assert "north" not in held[named]


def test_recursive_statements_count_once() -> None:
    reading = read_sample(SAMPLE)
    waits = dict(picked(reading, "wait", "event", "average_active_sessions"))
    assert waits["CPU"] * 125 == pytest.approx(21.0)
    assert waits["db file scattered read"] * 125 == pytest.approx(66.0)
    assert figure(reading, "v$sess_time_model.DB time") == [pytest.approx(91 / 125)]  # without the five seconds asleep
    statements = sum(share for (share,) in picked(reading, "statement", "elapsed_s_per_s"))
    assert statements == pytest.approx(91 / 125)
    assert figure(reading, "reconcile.unaccounted") == [pytest.approx(3 / 125)]


def test_waits_have_times_mean_and_longest() -> None:
    reading = read_sample(SAMPLE)
    ((per_s, mean_ms),) = picked(reading, "wait", "waits_per_s", "avg_wait_ms", event="db file scattered read")
    assert (per_s, mean_ms) == (36.0, pytest.approx(14.667, abs=0.001))
    assert figure(reading, "tkprof.max_wait_s", entity="db file scattered read") == [0.09]


def test_what_could_not_be_parsed_is_an_error() -> None:
    assert picked(read_sample(SAMPLE), "event", "kind", "subject") == [("error", "ORA-00904")]


def test_the_statement_that_takes_most_is_found() -> None:
    found = diagnose(Dataset.from_batches(read_sample(SAMPLE).batches)).findings
    (finding,) = [each for each in found if each.cause == "statement_dominates"]
    assert "takes 91 % of database time" in said(finding.title)


def test_a_piece_without_title_and_totals_is_added_up(tmp_path: Path) -> None:
    piece = (SAMPLES / SAMPLE).read_text().partition("ORA-00904")[2].partition("OVERALL")[0]
    file = tmp_path / "piece.txt"
    file.write_text(piece)
    reading = read_file(file)
    assert figure(reading, "v$sess_time_model.DB time") == [1.0]
    assert {event for (event,) in picked(reading, "wait", "event")} >= {"CPU", "db file scattered read"}


def test_without_waits_what_is_not_cpu_is_not_told(tmp_path: Path) -> None:
    lines = (SAMPLES / SAMPLE).read_text().splitlines()
    file = tmp_path / "level1.txt"
    file.write_text("\n".join(line for line in lines if not line.startswith("  ")))
    reading = read_file(file)
    assert any("without waits" in note for note in reading.notes)
    waits = dict(picked(reading, "wait", "event", "average_active_sessions"))
    assert waits.keys() == {"CPU", "(which events, is not told)"}
