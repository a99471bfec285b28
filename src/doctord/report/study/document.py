"""A study as a JSON document: docs/reference/study.md."""

from dataclasses import asdict
from typing import Any

from doctord.analyse.study.change_points import ChangePoint, ChangePoints
from doctord.analyse.study.compare import Row
from doctord.analyse.study.difference import Difference
from doctord.analyse.study.load import Loads
from doctord.analyse.study.spreads import Spread
from doctord.analyse.study.targets import Judged
from doctord.analyse.study.twin import Twin
from doctord.analyse.study.verdict import Comparison
from doctord.app.study.study import Part, Study
from doctord.report.study import words


def document(found: Study) -> dict[str, Any]:
    """What `doctord study --json` gives."""
    return {
        "schema_version": 1,
        "question": found.question.text or None,
        "change": found.question.change or None,
        "verdict": found.verdict.replace(" ", "_"),
        "says": words.verdict(found.parts[0].last) if len(found.parts) == 1 else None,
        "regressions": [_row(row) for row in found.regressions],
        "accepted": list(found.question.accepted),
        "parts": [_part(part) for part in found.parts],
    }


def _part(part: Part) -> dict[str, Any]:
    return {
        "name": part.name or None,
        "verdict": part.last.verdict.replace(" ", "_"),
        "says": words.verdict(part.last),
        "comparisons": [
            _comparison(one) | {"targets": [_target(target) for target in targets]}
            for one, targets in zip(part.comparisons, part.targets, strict=True)
        ],
    }


def _comparison(one: Comparison) -> dict[str, Any]:
    return {
        "before": one.before,
        "after": one.after,
        "verdict": one.verdict.replace(" ", "_"),
        "why": one.why or None,
        "says": words.verdict(one),
        "unit": one.unit,
        "loads": _loads(one.loads) if one.loads else None,
        "time": [_row(row) for row in one.time],
        "shares_of_change": [{"name": row.key.name, "share": share} for row, share in one.shares_of_change],
        "figures": [_row(row) for row in one.rows],
        "regressions": [_row(row) for row in one.regressions],
        "changes": [asdict(change) for change in one.changes.found] if one.changes else None,
        "not_recorded": list(one.changes.not_recorded) if one.changes else None,
        "twin": _twin(one.twin) if one.twin else None,
        "change_points": _points(one.points) if one.points else None,
        "quantiles": [asdict(quantile) | {"ratio": quantile.ratio} for quantile in one.quantiles],
        "histograms": [_histogram(spread) for spread in one.histograms],
        "not_measured": [
            {"kind": row.key.kind, "name": row.key.name, "of": row.key.of or None, "why": row.difference.why}
            for row in one.not_measured
        ],
    }


def _row(row: Row) -> dict[str, Any]:
    told = row.difference
    return {
        "kind": row.key.kind,
        "name": row.key.name,
        "of": row.key.of or None,
        "unit": row.unit or None,
        "better": row.better,
        "before": row.before,
        "after": row.after,
        "ratio": told.ratio,
        "low": told.low,
        "high": told.high,
        "p": told.p,
        "rows_before": told.before.rows if told.before else 0,
        "rows_after": told.after.rows if told.after else 0,
        "outcome": row.outcome,
        "why": told.why or None,
        "seconds_per_second_before": row.seconds[0],
        "seconds_per_second_after": row.seconds[1],
        "noise": row.noise.least if row.noise else None,
        "is_steady": row.noise.is_steady if row.noise else None,
    }


def _twin(twin: Twin) -> dict[str, Any]:
    return {
        "name": twin.name,
        "before": twin.own.before.value if twin.own.before else None,
        "after": twin.own.after.value if twin.own.after else None,
        "ratio": twin.own.ratio,
        "low": twin.own.low,
        "high": twin.own.high,
        "p": twin.own.p,
        "has_moved": twin.has_moved,
        "is_parallel": twin.is_parallel,
        "load_ratios": list(twin.loads),
        "net": _row(twin.net),
    }


def _points(points: ChangePoints) -> dict[str, Any]:
    return {
        "before": [_point(one) for one in points.before],
        "after": [_point(one) for one in points.after],
        "ended": points.ended.isoformat(),
        "began": points.began.isoformat(),
        "at_the_change": _interval(points.at_the_change) if points.at_the_change else None,
        "is_elsewhere": points.is_elsewhere,
    }


def _point(point: ChangePoint) -> dict[str, Any]:
    return {"at": point.at.isoformat(), **_interval(point.difference)}


def _interval(told: Difference) -> dict[str, Any]:
    return {"ratio": told.ratio, "low": told.low, "high": told.high, "p": told.p}


def _histogram(spread: Spread) -> dict[str, Any]:
    told = spread.difference
    return {
        "subject": spread.subject,
        "per_second_before": told.a.per_second,
        "per_second_after": told.b.per_second,
        "moved": told.moved,
        "is_alike": spread.is_alike,
    }


def _loads(loads: Loads) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(loads).items()}


def _target(one: Judged) -> dict[str, Any]:
    return {
        "target": one.target.text,
        "before": one.row.before if one.row else None,
        "after": one.row.after if one.row else None,
        "unit": one.row.unit if one.row else None,
        "is_met": one.is_met,
    }
