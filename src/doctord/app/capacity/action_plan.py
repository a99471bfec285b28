"""The capacity report: what runs out, in the order in which it is to be dealt with."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from doctord.analyse.capacity import action_plan
from doctord.analyse.capacity.action_plan import ActionPlan
from doctord.analyse.capacity.whatif import Change
from doctord.app.capacity import forecast
from doctord.app.capacity.rules import rules_of
from doctord.app.source import Files, Recorded
from doctord.app.watcher import SILENT, Watcher


@dataclass(frozen=True, eq=False)
class Ahead:
    """What runs out within a horizon, what if, and the names of the service levels, which are not forecast."""

    action_plan: ActionPlan
    horizon_s: float
    changes: Sequence[Change]
    levels: list[str]

    @property
    def healthy(self) -> bool | None:
        """Whether nothing is or will be violated within the horizon; null when nothing can be told."""
        verdicts = {entry.verdict for entry in self.action_plan.entries}
        if verdicts & {"violated", "date"}:
            return False
        return True if verdicts & {"perhaps", "not within the horizon"} else None


def ahead(
    source: Files | Recorded,
    file: Path | None,
    horizon_s: float,
    changes: Sequence[Change],
    watcher: Watcher = SILENT,
) -> Ahead:
    """What is or will be violated, of all that is kept.

    Args:
        source: Where histories come from.
        file: The thresholds; null takes Doctor D's own.
        horizon_s: How far to look ahead.
        changes: What-ifs.
        watcher: Who is told how it goes on.

    Raises:
        UserError: nothing was measured, files tell of several hosts, or the libraries that forecast are not installed.
    """
    rules = rules_of(file)
    forecast.check_installed()
    measured = forecast.of_one(source, list(rules.figures.values()), watcher)
    forecast.tell_left_out(rules, watcher)
    items = forecast.foreseen(measured, rules, horizon_s, changes)
    found = action_plan.action_plan(items, measured.series, rules.thresholds, measured.span)
    return Ahead(found, horizon_s, changes, [level.name for level in rules.levels])
