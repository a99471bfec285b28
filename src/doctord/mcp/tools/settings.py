"""What settings get wrong, as they were recorded."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from doctord.app.asked import Interval
from doctord.app.lint import lint as linted
from doctord.mcp.fitted import fitted
from doctord.mcp.place import recorded
from doctord.mcp.strangers import Names
from doctord.mcp.told import Notes
from doctord.mcp.tools.parameters import Host, Lake, Since, Until
from doctord.report.lint.document import document

VIOLATION = ("rule", "subject", "severity", "title", "cost", "impact", "fix", "verify", "source")
BRIEF = ("rule", "subject", "severity", "title")


class Linted(TypedDict):
    """Violations, the worst first; docs/reference/json.md explains their keys. Remedies are text."""

    looked_at: list[str]
    rules: dict[str, int]
    violations: list[dict[str, Any]]
    names: list[dict[str, str]]
    notes: list[str]
    left_out: dict[str, int]


def lint(
    lakes: Sequence[Path],
    *,
    since: Since = None,
    until: Until = None,
    rule: Annotated[
        str | None, Field(description="Only this rule, whole: postgresql/…; without it all are listed in brief.")
    ] = None,
    lake: Lake = None,
    host: Host = None,
) -> dict[str, Any]:
    """Say what settings get wrong for the machine and the workload that were recorded, the worst first.

    No server is asked: the settings are those that were in force then.
    """
    notes = Notes()
    dataset = recorded(lakes, lake, host).joined(Interval.asked(since, until), notes)
    names = Names([dataset])
    found = document(names.of(linted(dataset, watcher=notes)))
    chosen = [one for one in found["violations"] if rule in {None, one["rule"]}]
    answer = {
        "looked_at": found["looked_at"],
        "rules": _counted(found["violations"]),
        "violations": [{key: one[key] for key in (VIOLATION if rule else BRIEF)} for one in chosen],
        "names": names.listed(),
        "notes": notes.lines,
    }
    return fitted(answer, {"looked_at": 3, "names": 5, "notes": 2, "violations": 5})


def _counted(violations: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    counts = dict[str, int]()
    for one in violations:
        counts[one["severity"]] = counts.get(one["severity"], 0) + 1
    return counts
