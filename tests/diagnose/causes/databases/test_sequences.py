"""Sequences that end, and that are behind their columns."""

import pytest

from diagnose.hosts import DB, host
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said


@pytest.mark.parametrize(("used", "severity"), [(60.0, None), (80.0, "warning"), (99.0, "critical")])
def test_a_sequence_near_its_end(used: float, severity: str | None) -> None:
    diagnosis = diagnose(host(postgres={("bench.public.orders_id_seq", "pg_sequences.used_pct"): used}))
    assert [(finding.cause, finding.severity) for finding in diagnosis.findings] == (
        [("sequence_near_end", severity)] if severity else []
    )


def test_a_sequence_behind_its_column_is_a_note_until_keys_are_duplicate() -> None:
    behind = {("bench.public.orders_id_seq of orders_pkey", "pg_sequences.behind"): 299000.0}
    [finding] = diagnose(host(postgres=behind)).findings
    assert (finding.cause, finding.severity, len(finding.against)) == ("sequence_behind_column", "note", 1)
    common = {"component": "postgresql", "db": DB, "interval_s": 1.0, "kind": "rate", "unit": "per_s"}
    message = 'ERROR 23505 duplicate key value violates unique constraint "orders_pkey"'
    rows = [{**common, "name": "log.errors", "entity": message, "value": 2.0}]
    told = {finding.cause: finding for finding in diagnose(host(postgres=behind, extra={"statistic": rows})).findings}
    assert told["sequence_behind_column"].severity == "warning"
    assert said(told["sequence_behind_column"].title).endswith("is 299,000 behind its column: 40 duplicate keys")
    assert told["errors_logged"].explained_by == "sequence_behind_column"


def test_duplicate_keys_of_another_column_are_not_its() -> None:
    """A receiver expects duplicates of its events, beside a table whose rows brought numbers of their own."""
    behind = {("bench.public.orders_id_seq of orders_pkey", "pg_sequences.behind"): 299000.0}
    common = {"component": "postgresql", "db": DB, "interval_s": 1.0, "kind": "rate", "unit": "per_s"}
    message = 'ERROR 23505 duplicate key value violates unique constraint "events_pkey"'
    rows = [{**common, "name": "log.errors", "entity": message, "value": 2.0}]
    told = {finding.cause: finding for finding in diagnose(host(postgres=behind, extra={"statistic": rows})).findings}
    assert told["sequence_behind_column"].severity == "note"
    assert told["errors_logged"].explained_by is None
