"""The JSON document of an examination of settings, as docs/reference/json.md explains it."""

from dataclasses import asdict
from typing import Any

from doctord.lint.engine import Examined
from doctord.lint.setting import Setting
from doctord.lint.violation import Violation
from doctord.report.diagnosis.document import evidence, not_measured
from doctord.report.phrases import said


def document(examined: Examined) -> dict[str, Any]:
    """What was looked at, the violations, worst first, and those that a baseline accepts, with its reason."""
    return {
        "looked_at": list(examined.looked_at),
        "violations": [_violation(one) for one in examined.violations],
        "accepted": [{**_violation(one), "reason": reason} for one, reason in examined.accepted],
    }


def _violation(violation: Violation) -> dict[str, Any]:
    told = asdict(violation)
    told |= {name: said(getattr(violation, name)) for name in ("title", "cost", "fix", "verify")}
    told["evidence"] = [evidence(item) for item in violation.evidence]
    told["not_measured"] = [not_measured(item) for item in violation.not_measured]
    told["severity"] = violation.severity.word
    told["settings"] = [_setting(one) for one in violation.settings]
    return told


def _setting(setting: Setting) -> dict[str, Any]:
    names = ("component", "db", "instance", "name", "value", "unit", "source", "file", "line", "column")
    return {name: getattr(setting, name) for name in names}
