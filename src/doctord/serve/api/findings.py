"""The verdict on a time."""

from typing import Any

from pydantic import Field
from typing_extensions import TypedDict

from doctord.app.diagnose import diagnose
from doctord.mcp.told import Notes
from doctord.report.diagnosis.document import document
from doctord.serve.lakes import Asked
from doctord.serve.parameters import OfTime
from doctord.units import parse_duration


class FindingsParameters(OfTime):
    """A time, and how far back to look for what is usual."""

    past: str = Field("1d", max_length=20, description="How far back to look for what is usual.")


class Findings(TypedDict):
    """The document of `doctord diagnose --json`, with what was noted beside it: docs/reference/json.md."""

    host: str
    since: str | None
    until: str | None
    health: str
    findings: list[dict[str, Any]]
    time: list[dict[str, Any]]
    figures: list[dict[str, Any]]
    others: list[dict[str, Any]]
    notes: list[str]


def findings(asked: Asked, given: FindingsParameters) -> dict[str, Any]:
    """What was wrong in a time: findings, the worst first, with evidence, remedy and how to verify it.

    The document of `doctord diagnose --json`. Bad minutes and other hosts, each judged for itself, are `others`.
    """
    notes = Notes()
    found = diagnose(asked.recorded, asked.interval(parse_duration(given.past)), notes)
    others = [one.diagnosis for one in found.others]
    return document(found.diagnosis, others) | {"notes": notes.lines}
