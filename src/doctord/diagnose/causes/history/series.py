"""Reports in a row: what grew from one to the next."""

from collections.abc import Iterator, Sequence

from doctord.analyse.report_series import Rise, entities_of, latency_of, mean_of, rate_rises, rises
from doctord.dataset.common_statistics import names_of
from doctord.diagnose.case import WORTH_SAYING_SESSIONS, WORTH_SAYING_SHARE, Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.oracle.parse_storm import overlap, storms
from doctord.diagnose.finding import NONE_YET, NOT_MEASURED, Claim, Evidence, Impact, measured
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
# The load, by the names of all vendors, and what each is called.
LOAD = {
    **dict.fromkeys(names_of("logical reads"), "logical reads"),
    "v$sysstat.user calls": "calls",
    "v$sysstat.execute count": "executions",
    **dict.fromkeys(names_of("commits"), "commits"),
    **dict.fromkeys(names_of("connections opened"), "logons"),
    "v$sysstat.logons current": "sessions",
}
LOGICAL_READS = "v$sysstat.session logical reads"
SEGMENT_READS = "v$segment_statistics.logical reads"
# Half as much again is more than one hour differs from the next; a fifth is within what it does.
SAME = 1.2
# Less than one a second is not what a server is busy with.
LEAST_RATE = 1.0
# A jump that is told on its own: twice the load is another load.
JUMP = 2.0
# Storage and the log, where their latencies were measured: classes of time that they would be in themselves.
STORAGE = ("db file sequential read", "cell single block physical read", "log file sync", "db file scattered read")
OF_STORAGE = ("User I/O", "System I/O", "Commit")
# Classes in which a parse storm shows; it is told as what it is.
OF_A_STORM = ("Concurrency", "Unaccounted", "CPU", "DB CPU", "Other")


@cause()
def time_grew(case: Case) -> Iterator[Claim]:
    """From one report to the next much more time went into a wait class.

    Looks like: seconds per second in a wait class (or on CPU) that rise at some moment and stay, or stay for a while.
    Hurts because: what was well before is slower now: something changed at that moment.
    Speaks for it: the level before and since; the event, the statements and the rates of load (logical reads, calls,
        logons, sessions) that grew at the same time, the segment behind it; what stayed as it was, and is ruled out.
    Speaks against it: more work, calls or executions, by as much; few intervals on either side.
    Remedy: Ask what changed at that moment: a release, statistics, a plan, a job, data, settings, hardware. For the
        statement named compare its plans and its work for each execution before and after.
    Verify: Seconds per second are back at the level before, at the same calls.
    Source: J. Bentley, Communications of the ACM, 1984 (maximum-sum segment); the proactive method of
        K. Manoharan, 2008: profiles that are kept and compared.
    """
    found = rises(case.dataset)
    stormy = [storm for storm, _, _ in storms(case)]
    told = [
        rise for rise in found
        if rise.kind == "wait class" and _felt(case, rise) and not any(_is_of(storm, rise) for storm in stormy)
    ]  # fmt: skip
    for rise in told[:MOST_TOLD]:
        work = _work(case, rise)
        explained = work is not None and rise.times is not None and work >= EXPLAINED * rise.times
        yield Claim(
            phrase("{} {} {}: {:.3g s per s}", rise.name, _grew(rise), _when(rise), rise.now),
            impact=_part(case, rise),
            confidence=0.4 if explained or min(rise.within, rise.others) < LEVEL else 0.65,
            for_=[
                _level(rise),
                *_others(case, rise, [other for other in found if other.kind != "wait class"]),
                *_load(case, rise),
                *_ruled_out(case, rise),
            ],
            against=[
                Evidence("statistic", f"name in {WORK}", phrase("{:.1f} times the calls or executions", work),
                         phrase("{:.0%} of the rise", EXPLAINED), "there is more work, not slower work")
            ]
            if explained
            else [],
        )  # fmt: skip


@cause()
def load_grew(case: Case) -> Iterator[Claim]:
    """From one report to the next there is much more work of some kind.

    Looks like: logical reads, calls, logons or sessions that double at some moment and stay, or logical reads of one
        segment that do so for a while.
    Hurts because: it may cost nothing yet, and is what the next thing that runs short will be short of.
    Speaks for it: the rate before and since; of logical reads the segment behind them.
    Speaks against it: time that did not grow with it; few intervals on either side.
    Remedy: Ask what is new since then. Logical reads with one segment behind them are a plan that changed, or a new
        statement on that table: compare plans, and executions, before and after.
    Verify: The rate is back at the level before, or is meant to be where it is.
    Source: the proactive method of K. Manoharan, 2008: profiles that are kept and compared.
    """
    grown = [rise for rise in rises(case.dataset) if rise.kind == "wait class" and _felt(case, rise)]
    for rise in rate_rises(case.dataset, list(LOAD)):
        if (
            rise.times is None
            or rise.times < JUMP
            or rise.now < LEAST_RATE
            or any(overlap(rise, other) for other in grown)
        ):
            continue
        behind = list(_segment(case, rise))
        is_level = rise.lasting and min(rise.within, rise.others) >= LEVEL  # else it may be a day of the week
        if not is_level and not behind:
            continue
        yield Claim(
            phrase("{:.1f} times as many {} {}", rise.times, LOAD[rise.name], _when(rise)),
            impact=NONE_YET,
            confidence=0.4 if min(rise.within, rise.others) < LEVEL else 0.65,
            for_=[_rate(rise), *behind],
            severity="note",
        )


def _is_of(storm: Rise, rise: Rise) -> bool:
    """Whether a class grew by what a parse storm added to it."""
    if rise.name not in OF_A_STORM or not overlap(storm, rise):
        return False
    return rise.name == OF_A_STORM[0] or storm.added >= HALF * rise.added


def _load(case: Case, rise: Rise) -> Iterator[Evidence]:
    """Rates of load that rose in the same intervals, with the segment behind logical reads."""
    for other in rate_rises(case.dataset, list(LOAD)):
        if other.db == rise.db and overlap(rise, other) and other.now >= LEAST_RATE:
            yield _rate(other)
            yield from _segment(case, other)


def _rate(rise: Rise) -> Evidence:
    what = LOAD[rise.name]
    told = phrase("{}: {:,.0f}", what, rise.now) if what == "sessions" else phrase(f"{{:rate {what}}}", rise.now)
    return Evidence("statistic", f"name = '{rise.name}'", told, phrase("{:,.0f} before", rise.before),
                    "none before" if rise.times is None else phrase("{:.1f} times the load", rise.times))  # fmt: skip


def _segment(case: Case, rise: Rise) -> Iterator[Evidence]:
    """The segment behind most of what logical reads rose by."""
    if rise.name != LOGICAL_READS:
        return
    for name, before, now in entities_of(case.dataset, SEGMENT_READS, rise)[:1]:
        if now - before >= HALF * rise.added:
            yield Evidence("statistic", f"name = '{SEGMENT_READS}' and entity = '{name}'",
                           phrase("{}: {:rate logical reads}", name, now), phrase("{:,.0f} before", before),
                           phrase("{:share} of what was added", min((now - before) / rise.added, 1.0)))  # fmt: skip


def _ruled_out(case: Case, rise: Rise) -> Iterator[Evidence]:
    """Latencies of storage, and calls, that stayed as they were: neither is the reason."""
    if rise.name not in OF_STORAGE:
        known = ((event, latency_of(case.dataset, event, rise)) for event in STORAGE)
        for event, pair in [(event, pair) for event, pair in known if pair and pair[1] <= SAME * pair[0]][:2]:
            before, now = (phrase("{:time}", ms / 1000) for ms in pair)
            yield Evidence("wait", f"event = '{event}'", phrase("{}: {} each", event, now),
                           phrase("{} before", before), "as quick as before: storage is ruled out")  # fmt: skip
    work = _work(case, rise)
    if work is not None and work <= SAME:
        yield Evidence("statistic", f"name in {WORK}", phrase("{:.2f} times the calls and executions", work),
                       phrase("{:.1f} times", SAME), "no more work: more work is ruled out", "at_most")  # fmt: skip


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
    together = [other for other in found if other.db == rise.db and overlap(rise, other)]
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
