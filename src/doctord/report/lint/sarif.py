"""An examination of settings as SARIF 2.1.0, for code scanning of configuration in version control.

Source: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0, 2020.
"""

import hashlib
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from doctord.lint.engine import Examined
from doctord.lint.rule import RULES, Rule
from doctord.lint.violation import Violation
from doctord.report.phrases import said

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"


def document(examined: Examined, version: str) -> dict[str, Any]:
    """The SARIF log: one run with the rules that looked, a result for each violation; accepted ones are suppressed."""
    names = sorted({name for held in examined.checked.values() for name in held})
    told: list[tuple[Violation, str | None]] = [(violation, None) for violation in examined.violations]
    told += list(examined.accepted)
    driver = {"name": "doctord", "version": version, "rules": [_rule(RULES[name]) for name in names]}
    results = [_result(violation, reason, names) for violation, reason in told]
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}


def _rule(rule: Rule) -> dict[str, Any]:
    sections = rule.sections
    return {
        "id": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": sections["Why"]},
        "help": {"text": f"{sections['Fix']}\nVerify: {sections['Verify']}\nSource: {sections['Source']}"},
    }


def _result(violation: Violation, reason: str | None, names: list[str]) -> dict[str, Any]:
    result = {
        "ruleId": violation.rule,
        "ruleIndex": names.index(violation.rule),
        "level": violation.severity.word,
        "message": {"text": f"{violation.subject}: {said(violation.title)}. Cost: {said(violation.cost)}"},
        "locations": _locations(violation),
        "partialFingerprints": {"setting/v1": _fingerprint(violation)},
        "properties": {
            "impact": violation.impact,
            "changes": [f"{change.name} = {change.value} ({change.needs})" for change in violation.changes],
        },
    }
    if reason is not None:
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": reason}]
    return result


def _locations(violation: Violation) -> list[dict[str, Any]]:
    """Where the settings stand; by their names where they stand in no file."""
    found: list[dict[str, Any]] = []
    for setting in violation.settings:
        location: dict[str, Any] = {
            "logicalLocations": [{"fullyQualifiedName": f"{violation.subject}/{setting.name}", "kind": "property"}]
        }
        if setting.file:
            physical: dict[str, Any] = {"artifactLocation": {"uri": quote(PurePath(setting.file).as_posix())}}
            if setting.line:
                column = {"startColumn": setting.column} if setting.column else {}
                physical["region"] = {"startLine": setting.line, **column}
            location["physicalLocation"] = physical
        found.append(location)
    return found


def _fingerprint(violation: Violation) -> str:
    """What stays the same of a violation when lines move."""
    about = "\n".join((violation.rule, violation.subject, *(setting.name for setting in violation.settings)))
    return hashlib.sha256(about.encode()).hexdigest()[:32]
