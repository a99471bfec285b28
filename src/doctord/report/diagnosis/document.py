"""The JSON form of a diagnosis. Every key is explained in docs/reference/json.md."""

from collections.abc import Sequence
from typing import Any

from doctord.diagnose.finding import Diagnosis, Evidence, Finding, NotMeasured
from doctord.report.phrases import said, threshold
from doctord.report.wording import iso

SCHEMA_VERSION = 2


def document(diagnosis: Diagnosis, others: Sequence[Diagnosis] = ()) -> dict[str, Any]:
    """A diagnosis as what `json.dumps` takes: numbers as numbers, null for absent, times in ISO 8601 (UTC).

    `others` are those of other servers and times that were judged beside it.
    """
    return {
        "schema_version": SCHEMA_VERSION,
        "host": diagnosis.host,
        "since": iso(diagnosis.since),
        "until": iso(diagnosis.until),
        "healthy": diagnosis.healthy,
        "health": diagnosis.health,
        "judged": list(diagnosis.judged),
        "not_judged": list(diagnosis.not_judged),
        "figures": [{"name": vital.name, "value": vital.value, "unit": vital.unit} for vital in diagnosis.figures],
        "findings": findings(diagnosis),
        "time_of": diagnosis.time_of,
        "explained": diagnosis.explained,
        "time": [
            {
                "wait_class": part.wait_class,
                "event": part.event,
                "seconds_per_second": part.seconds_per_second,
                "share": part.share,
            }
            for part in diagnosis.time
        ],
        "top": [
            {
                "kind": one.kind,
                "database": one.db,
                "name": one.name,
                "text": one.text,
                "share": one.share,
                "cpu_share": one.cpu_share,
                "gets_share": one.gets_share,
                "reads_share": one.reads_share,
                "calls_per_s": one.calls_per_s,
                "elapsed_ms": one.elapsed_ms,
            }
            for one in diagnosis.top
        ],
        "looked_at": [said(line) for line in diagnosis.looked_at],
        "not_measured": [not_measured(item) for item in diagnosis.not_measured],
        "others": [document(other) for other in others],
    }


def findings(diagnosis: Diagnosis) -> list[dict[str, Any]]:
    """The findings alone, as they stand in the document."""
    return [_finding(finding) for finding in diagnosis.findings]


def _finding(finding: Finding) -> dict[str, Any]:
    interval = finding.interval
    return {
        "cause": finding.cause,
        "severity": finding.severity,
        "database": finding.database,
        "title": said(finding.title),
        "impact": finding.impact.share,
        "impact_known": finding.impact.known,
        "confidence": finding.confidence,
        "explained_by": finding.explained_by,
        "time_of": finding.time_of,
        "for": [evidence(item) for item in finding.for_],
        "against": [evidence(item) for item in finding.against],
        "not_measured": [not_measured(item) for item in finding.not_measured],
        "remedy": [said(step) for step in finding.remedy],
        "verify": [said(step) for step in finding.verify],
        "sources": list(finding.sources),
        "interval": {"since": iso(interval[0]), "until": iso(interval[1])} if interval else None,
    }


def evidence(item: Evidence) -> dict[str, Any]:
    """One item of evidence: the figures as numbers, and as they are shown."""
    return {
        "table": item.table,
        "filter": item.filter,
        "value": item.value,
        "unit": item.unit,
        "threshold": item.limit,
        "direction": item.direction,
        "figure": said(item.figure),
        "held_against": threshold(item),
        "why": said(item.why),
    }


def not_measured(item: NotMeasured) -> dict[str, str]:
    """What could not be seen."""
    return {"what": said(item.what), "why": said(item.why), "grant": said(item.grant)}
