"""The capacity report as a document, as CSV, and in one line."""

import csv
import io
import json
from dataclasses import replace

import pytest
from syrupy.assertion import SnapshotAssertion

from doctord.report.capacity.report import COLUMNS, csv_of, document_of, verdict
from report.capacity_examples import SPACE, WITHIN_S, agenda_of, healthy, host, hostile, tablespaces

PATIENT = document_of(agenda_of(host()), WITHIN_S, ["20% more"])


def rounded(value: object) -> object:
    """Numbers to four digits: what is beyond may differ from machine to machine."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return [rounded(one) for one in value] if isinstance(value, list) else value


def test_the_document(snapshot: SnapshotAssertion) -> None:
    assert json.dumps(rounded(PATIENT), indent=2) == snapshot


def test_the_table(snapshot: SnapshotAssertion) -> None:
    assert csv_of(rounded(PATIENT)) == snapshot  # type: ignore[arg-type]


def test_the_table_has_a_row_for_each_figure_and_each_threshold_never_measured() -> None:
    rows = list(csv.DictReader(io.StringIO(csv_of(PATIENT))))
    assert len(rows) == len(PATIENT["items"]) + len(PATIENT["never_measured"])
    assert tuple(rows[0]) == COLUMNS
    assert {row["verdict"] for row in rows} == {*PATIENT["counts"], "never measured"}


def test_what_is_not_known_is_empty_and_never_zero() -> None:
    rows = {row["entity"]: row for row in csv.DictReader(io.StringIO(csv_of(PATIENT)))}
    assert (rows["system"]["date"], rows["system"]["growth_per_day"]) == ("", "")


def test_cells_are_no_formulas_and_one_line() -> None:
    histories, threshold = hostile()
    text = csv_of(document_of(agenda_of(histories, [threshold]), WITHIN_S, []))
    (row,) = csv.DictReader(io.StringIO(text))
    assert row["entity"].startswith("'=cmd|")
    assert row["plan"].startswith("'@")
    assert len(text.splitlines()) == 2
    assert "\x1b" not in text


@pytest.mark.parametrize(
    ("document", "line"),
    [
        (
            PATIENT,
            "2 limits are violated now; 3 more will be within 90 d: "
            "the first is file system full (db1, /u01), about 2026-09-29 (in 27 d)",
        ),
        (document_of(agenda_of(healthy()), WITHIN_S, []), "No limit will be violated within 90 d"),
        (document_of(agenda_of([]), WITHIN_S, []), "No verdict: nothing was measured that a threshold speaks of"),
        (
            document_of(agenda_of(host()[4:5]), WITHIN_S, []),
            "Cannot tell: 3 d of history",
        ),
        (
            document_of(agenda_of(host()[3:5]), WITHIN_S, []),
            "No limit will be violated within 90 d, as far as can be told (1 cannot)",
        ),
    ],
)
def test_the_verdict(document: dict[str, object], line: str) -> None:
    assert verdict(document) == line


def test_one_to_come_is_named_alone() -> None:
    document = document_of(agenda_of(host()[1:2]), WITHIN_S, [])
    assert (
        verdict(document)
        == "1 limit will be violated within 90 d: space left (db1, oracle:DW, users), about 2026-10-17 (in 45 d)"
    )


def test_a_limit_by_hour_is_said_to_be_the_most_lenient() -> None:
    by_hour = replace(SPACE, by_hour=(SPACE.limit,) * 168)
    (item,) = document_of(agenda_of(host()[1:2], [by_hour]), WITHIN_S, [])["items"]
    assert item["notes"][-1].startswith("the limit differs by hour of the week")


def test_every_tablespace_is_an_item() -> None:
    assert len(document_of(agenda_of(tablespaces(30)), WITHIN_S, [])["items"]) == 30
