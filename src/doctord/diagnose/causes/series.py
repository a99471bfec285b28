"""Reports in a row: what grew from one to the next."""

from collections.abc import Iterator, Sequence

from doctord.analyse.report_series import Rise, mean_of, rises
from doctord.diagnose.case import WORTH_SAYING_SESSIONS, WORTH_SAYING_SHARE, Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, Impact, measured
from doctord.diagnose.phrase import Phrase, Words, phrase
from doctord.diagnose.words import shortened

MOST_TOLD = 3
# Work that grew by most of what the time grew by explains it.
WORK = ("v$sysstat.user calls", "v$sysstat.execute count", "v$sysstat.user commits")
EXPLAINED = 0.8
# So many intervals on either side make a level; fewer are two moments that differ.
LEVEL = 3
HALF = 0.5
ON_CPU = ("CPU", "DB CPU")


@cause()
def time_grew(case: Case) -> Iterator[Claim]:
    """From one report to the next much more time went into a wait class.

    Looks like: seconds per second in a wait class (or on CPU) that rise at some moment and stay, or stay for a while.
    Hurts because: what was well before is slower now: something changed at that moment.
    Speaks for it: the level before and since; the event and the statements that grew at the same time.
    Speaks against it: more work, calls or executions, by as much; few intervals on either side.
    Remedy: Ask what changed at that moment: a release, statistics, a plan, a job, data, settings, hardware. For the
        statement named compare its plans and its work for each execution before and after.
    Verify: Seconds per second are back at the level before, at the same calls.
    Source: J. Bentley, Communications of the ACM, 1984 (maximum-sum segment); the proactive method of
        K. Manoharan, 2008: profiles that are kept and compared.
    """
    found = rises(case.dataset)
    told = [rise for rise in found if rise.kind == "wait class" and _felt(case, rise)]
    for rise in told[:MOST_TOLD]:
        work = _work(case, rise)
        explained = work is not None and rise.times is not None and work >= EXPLAINED * rise.times
        yield Claim(
            phrase("{} {} {}: {:.3g s per s}", rise.name, _grew(rise), _when(rise), rise.now),
            impact=_part(case, rise),
            confidence=0.4 if explained or min(rise.within, rise.others) < LEVEL else 0.65,
            for_=[_level(rise), *_others(case, rise, [other for other in found if other.kind != "wait class"])],
            against=[
                Evidence("statistic", f"name in {WORK}", phrase("{:.1f} times the calls or executions", work),
                         phrase("{:.0%} of the rise", EXPLAINED), "there is more work, not slower work")
            ]
            if explained
            else [],
        )  # fmt: skip


def _felt(case: Case, rise: Rise) -> bool:
    """Whether the rise is worth saying, and was not from idleness to work."""
    at_work = rise.whole_before is not None and rise.whole_before >= WORTH_SAYING_SESSIONS
    return at_work and rise.added >= max(WORTH_SAYING_SESSIONS, WORTH_SAYING_SHARE * case.time.seconds_per_second)


def _part(case: Case, rise: Rise) -> Impact:
    """Share of all database time that the rise added; not measured where the whole is not known."""
    whole = case.time.seconds_per_second * (rise.within + rise.others)
    return measured(rise.added * rise.within / whole) if whole else NOT_MEASURED


def _level(rise: Rise) -> Evidence:
    return Evidence(
        "wait",
        f"wait_class = '{rise.name}'",
        phrase("{:.3g s per s} ({})", rise.now, _intervals(rise.within)),
        phrase("{:.3g s per s} in the {} other (medians)", rise.before, rise.others),
        phrase("from {:%Y-%m-%d %H:%M} to {:%Y-%m-%d %H:%M}", rise.since, rise.ends[1]),
    )


def _others(case: Case, rise: Rise, found: Sequence[Rise]) -> Iterator[Evidence]:
    """Events of the class, and statements, that rose in the same intervals."""
    together = [other for other in found if other.db == rise.db and _overlap(rise, other)]
    events = [other for other in together if other.kind == "event" and other.of == rise.name]
    statements = [other for other in together if other.kind == "statement" and _fits(case, rise, other)]
    for other in (*events[:MOST_TOLD], *statements[:MOST_TOLD]):
        text = case.statement_text(other.name) if other.kind == "statement" else None
        if other.added >= rise.added / 10:
            yield Evidence(
                "wait" if other.kind == "event" else "statement",
                f"event = '{other.name}'" if other.kind == "event" else f"statement_id = '{other.name}'",
                phrase("{}: {:.3g s per s}", other.name, other.now),
                phrase("{}{:.3g s per s} before", "at most " if other.kind == "statement" else "", other.before),
                shortened(text) if text else phrase("{:share} of the rise", min(other.added / rise.added, 1.0)),
            )


def _fits(case: Case, rise: Rise, statement: Rise) -> bool:
    """Whether a statement that rose spends its time where the class is: on a CPU, or not; true when that is unknown."""
    on_cpu = next((one.cpu for one in case.statements if one.statement_id == statement.name), None)
    return on_cpu is None or (on_cpu >= HALF) is (rise.name in ON_CPU)


def _overlap(rise: Rise, other: Rise) -> bool:
    return other.since < rise.ends[1] and other.ends[1] > rise.since


def _work(case: Case, rise: Rise) -> float | None:
    """How many times the calls, executions or commits there were; null when they were not counted."""
    pairs = (mean_of(case.dataset, name, rise) for name in WORK)
    times = [pair[1] / pair[0] for pair in pairs if pair is not None and pair[0]]
    return max(times, default=None)


def _grew(rise: Rise) -> Words:
    return (
        phrase("takes {:.1f} times as much time", rise.times)
        if rise.times is not None
        else "takes time, and took none,"
    )


def _intervals(count: int) -> str:
    return f"{count} intervals" if count > 1 else "one interval"


def _when(rise: Rise) -> Phrase:
    if rise.lasting:
        return phrase("since the interval ending {:%Y-%m-%d %H:%M}", rise.ends[0])
    return phrase("from {:%Y-%m-%d %H:%M} to {:%Y-%m-%d %H:%M}", rise.since, rise.ends[1])
