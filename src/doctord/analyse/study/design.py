"""What the design of a study lets be said: of several changes at once nothing; with a twin what is beyond its own."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from doctord.analyse.study.changes import Changes, changes_of
from doctord.analyse.study.twin import Twin, twin_of
from doctord.analyse.study.verdict import Comparison, Period, Verdict, compared_alone, told

NO_TWIN: Final = "server and twin have no load and database time of the same moments"
MOST_NAMED: Final = 5
WAYS: Final[dict[Verdict, str]] = {"better": "better", "worse": "worse", "no difference": "no different"}
Pair = tuple[Period, Period]  # before, after


def compare(
    before: Period, after: Period, unit: str | None = None, change: str = "", twin: Pair | None = None
) -> Comparison:
    """Hold two periods against each other.

    Args:
        before: The first.
        after: The second.
        unit: Unit of load to tell time by (see `spent.UNITS`); null takes the best that both tell; `none`: throughput
            is a result of the change, as in a load test, and no load that came by itself.
        change: Names of what was changed on purpose; what else differs confounds it, and there is no verdict.
        twin: A server that was not changed, before and after: the verdict is then on what differs from it.
    """
    changes = changes_of(before.dataset, after.dataset)
    found, confounding = replace(compared_alone(before, after, unit), changes=changes), changes.confounding(change)
    if twin:
        there = changes_of(*(period.dataset for period in twin))
        found = _less_twin(found, (before, after), twin, there.only_beside(changes))
        confounding = changes.only_beside(there).confounding(change)
    return _confounded(found, [change] * bool(change), [one.name for one in confounding])


def _less_twin(found: Comparison, own: Pair, twin: Pair, changes: Changes) -> Comparison:
    """The same, the verdict on what is left when the difference of the twin is taken off."""
    told_by = _twin(found.unit, own, twin)
    if told_by is None:
        return replace(found, verdict="not comparable", why=NO_TWIN)
    found = replace(found, twin=told_by)
    changed_too = [one.name for one in changes.confounding("what was changed here")]
    refusal = f"its twin was changed too ({', '.join(changed_too[:MOST_NAMED])})" if changed_too else told_by.refusal
    if refusal:
        return replace(found, verdict="not comparable", why=refusal)
    if found.loads and found.loads.overlap is False:
        return found
    verdict, why = told([told_by.net])
    return replace(found, verdict=verdict, why=why)


def _twin(unit: str | None, own: Pair, twin: Pair) -> Twin | None:
    """What a twin says; null where it has no database time, or none of them that load."""
    before, after, old, new = (period.spent for period in (*own, *twin))
    if before is None or after is None or old is None or new is None or unit is None:
        return None
    if any(unit not in one.loads for one in (old, new)):
        return None
    return twin_of(twin[0].name, (before, after), (old, new), unit)


def _confounded(found: Comparison, named: Sequence[str], others: Sequence[str]) -> Comparison:
    """The same without a verdict, where several changes were made at once: the figures stand, but are of them all."""
    if not others:
        return found
    more = f" and {len(others) - MOST_NAMED} more" if len(others) > MOST_NAMED else ""
    why = f"several changes at once ({', '.join([*named, *others[:MOST_NAMED]])}{more})"
    if found.verdict != "not comparable":
        why += f": which of them made it {WAYS[found.verdict]}, cannot be told"
    return replace(found, verdict="not comparable", why=why)
