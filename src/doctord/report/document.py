"""The JSON form of a diagnosis, and back. Every key is explained in docs/reference/json.md."""

from datetime import datetime
from typing import Any

from doctord.diagnose.finding import Diagnosis, Evidence, Finding, Impact, TimeShare, Unseen
from doctord.report.wording import iso

SCHEMA_VERSION = 1


def document(diagnosis: Diagnosis) -> dict[str, Any]:
    """A diagnosis as what `json.dumps` takes: numbers as numbers, null for absent, times in ISO 8601 (UTC)."""
    return {
        "schema_version": SCHEMA_VERSION,
        "host": diagnosis.host,
        "since": iso(diagnosis.since),
        "until": iso(diagnosis.until),
        "healthy": diagnosis.healthy,
        "figures": [{"name": name, "value": value} for name, value in diagnosis.figures],
        "findings": findings(diagnosis),
        "time_of": diagnosis.time_of,
        "time": [
            {
                "wait_class": part.wait_class,
                "event": part.event,
                "seconds_per_second": part.seconds_per_second,
                "share": part.share,
            }
            for part in diagnosis.time
        ],
        "looked_at": list(diagnosis.looked_at),
        "unseen": [_unseen(unseen) for unseen in diagnosis.unseen],
    }


def from_document(doc: dict[str, Any]) -> Diagnosis:
    """The diagnosis that `document` was given.

    Raises:
        ValueError: the document has another schema version, or a key is missing.
    """
    version = doc.get("schema_version")
    if version != SCHEMA_VERSION:
        raise ValueError(f"schema_version is {version!r}, not {SCHEMA_VERSION}: not a diagnosis of this version")
    try:
        return _diagnosis(doc)
    except KeyError as error:
        raise ValueError(f"not a whole diagnosis: the key {error} is missing") from error


def findings(diagnosis: Diagnosis) -> list[dict[str, Any]]:
    """The findings alone, as they stand in the document."""
    return [_finding(finding) for finding in diagnosis.findings]


def _finding(finding: Finding) -> dict[str, Any]:
    interval = finding.interval
    return {
        "cause": finding.cause,
        "title": finding.title,
        "impact": finding.impact.share,
        "impact_known": finding.impact.known,
        "confidence": finding.confidence,
        "explained_by": finding.explained_by,
        "time_of": finding.time_of,
        "for": [_evidence(item) for item in finding.for_],
        "against": [_evidence(item) for item in finding.against],
        "unseen": [_unseen(item) for item in finding.unseen],
        "remedy": list(finding.remedy),
        "verify": list(finding.verify),
        "sources": list(finding.sources),
        "interval": {"since": iso(interval[0]), "until": iso(interval[1])} if interval else None,
    }


def _evidence(item: Evidence) -> dict[str, str]:
    return {
        "table": item.table,
        "filter": item.filter,
        "figure": item.figure,
        "threshold": item.threshold,
        "why": item.why,
    }


def _unseen(item: Unseen) -> dict[str, str]:
    return {"what": item.what, "why": item.why, "grant": item.grant}


def _diagnosis(doc: dict[str, Any]) -> Diagnosis:
    return Diagnosis(
        host=doc["host"],
        since=_moment(doc["since"]),
        until=_moment(doc["until"]),
        time_of=doc["time_of"],
        time=tuple(
            TimeShare(part["wait_class"], part["event"], part["seconds_per_second"], part["share"])
            for part in doc["time"]
        ),
        findings=tuple(_from_finding(finding) for finding in doc["findings"]),
        looked_at=tuple(doc["looked_at"]),
        unseen=_from_unseen(doc["unseen"]),
        figures=tuple((figure["name"], figure["value"]) for figure in doc["figures"]),
    )


def _from_finding(doc: dict[str, Any]) -> Finding:
    interval = doc["interval"]
    return Finding(
        cause=doc["cause"],
        title=doc["title"],
        impact=Impact(doc["impact"], doc["impact_known"]),
        confidence=doc["confidence"],
        for_=_from_evidence(doc["for"]),
        against=_from_evidence(doc["against"]),
        unseen=_from_unseen(doc["unseen"]),
        remedy=tuple(doc["remedy"]),
        verify=tuple(doc["verify"]),
        sources=tuple(doc["sources"]),
        interval=(datetime.fromisoformat(interval["since"]), datetime.fromisoformat(interval["until"]))
        if interval
        else None,
        explained_by=doc["explained_by"],
        time_of=doc.get("time_of"),
    )


def _from_evidence(docs: list[dict[str, str]]) -> tuple[Evidence, ...]:
    return tuple(Evidence(d["table"], d["filter"], d["figure"], d["threshold"], d["why"]) for d in docs)


def _from_unseen(docs: list[dict[str, str]]) -> tuple[Unseen, ...]:
    return tuple(Unseen(d["what"], d["why"], d["grant"]) for d in docs)


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
