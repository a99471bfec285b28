"""A process that takes more and more memory."""

from collections.abc import Iterator

from doctord.analyse.host.growth import LEAST_S, Growth, growths
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import NONE_YET, Claim, Evidence
from doctord.diagnose.phrase import Phrase, phrase

# Caches of a server that has just started fill for an hour or so.
WARM_S = 3600.0
# Half as many threads again hold half as much again: each has buffers of its own.
MORE_THREADS = 1.5
DAY_S, YEAR_S = 86_400.0, 365 * 86_400.0
MOST_TOLD = 3


@cause(explains=("slow_fork", "memory_short"))
def process_grows(case: Case) -> Iterator[Claim]:
    """A process takes more and more memory, and gives none back.

    Looks like: the memory of its own of a server process rises for as long as it is watched, as fast at the end as at
        the beginning.
    Hurts because: memory ends at some date, and then the kernel swaps, or kills it; before that each fork of it takes
        longer, since it copies the page tables.
    Speaks for it: the trend with its interval, since when, and that it goes on lately; when the memory of the host
        ends.
    Speaks against it: a start not long ago, or threads that became more: caches and buffers fill, and come to rest.
    Remedy: Plan a restart before the date. Look for a newer release with the leak mended, or for what was turned on
        when it began: a log, a trace, an extension, a library.
        Oracle: restart the listener: sessions that are there stay.
        MySQL: performance_schema's memory_summary_global_by_event_name tells which part grows.
    Verify: After the restart the trend's interval holds zero over as long a time.
    Source: H. Theil, 1950, and P. K. Sen, 1968 (the trend and its interval); R. Milkowski, "Oracle's listener
        performance", 2008 (a listener of 400 MB against one of 23 MB); proc(5), RssAnon.
    """
    for growth in growths(case.dataset)[:MOST_TOLD]:
        ends_s = _memory_ends_s(case, growth.bytes_per_s)
        for_, against = weigh(_signs(growth))
        yield Claim(
            phrase("{} grows by {:bytes} an hour", f"{growth.command} (pid {growth.pid})", 3600 * growth.bytes_per_s),
            impact=NONE_YET,
            severity="warning" if ends_s is not None and ends_s < DAY_S else "note",
            confidence=0.5 if against else 0.85,
            for_=[*for_, *_trend(growth), *_end(case, growth)],
            against=against,
            first_steps=_first_steps(ends_s),
        )


def _signs(growth: Growth) -> Iterator[Sign]:
    rows = f"name = 'process.anon_bytes' and entity = '{growth.entity}'"
    watched = (growth.until - growth.since).total_seconds() / 60
    yield Sign("statistic", rows, watched, LEAST_S / 60, "grew all the {:.0f min} that it was watched",
               phrase("from {:bytes} to {:bytes}", growth.first_bytes, growth.last_bytes))  # fmt: skip
    hours = None if growth.age_s is None else growth.age_s / 3600
    yield Sign("process", f"pid = {growth.pid}", hours, WARM_S / 3600, "started {:.1f h} before",
               "its caches had time to fill", "its caches may still fill")  # fmt: skip
    yield Sign("process", f"pid = {growth.pid}", growth.threads, MORE_THREADS, "{:.2g} times as many threads", "",
               "each has memory of its own", below=True)  # fmt: skip


def _trend(growth: Growth) -> list[Evidence]:
    rows = f"name = 'process.anon_bytes' and entity = '{growth.entity}'"
    between = phrase("between {:bytes} and {:bytes} an hour with 95 %", 3600 * growth.low, 3600 * growth.high)
    lately = phrase("{:bytes} an hour lately: it goes on", 3600 * growth.lately)
    return [Evidence("statistic", rows, phrase("{:bytes} an hour", 3600 * growth.bytes_per_s), between, lately)]


def _available(case: Case) -> float | None:
    known = case.dataset.frame("memory").sort("ts", maintain_order=True)["available_bytes"].drop_nulls()
    return float(known[-1]) if len(known) else None


def _memory_ends_s(case: Case, bytes_per_s: float) -> float | None:
    available = _available(case)
    return None if available is None or bytes_per_s <= 0 else available / bytes_per_s


def _end(case: Case, growth: Growth) -> list[Evidence]:
    """When the memory that is available now is used up, by the trend and by the ends of its interval."""
    available = _available(case)
    if available is None:
        return []
    ends = [available / slope for slope in (growth.bytes_per_s, growth.high, growth.low)]
    if ends[0] > YEAR_S:
        when: Phrase = phrase("not within a year at this pace")
    else:
        when = phrase("used up in {:.3g h} at this pace (between {:.3g h} and {:.3g h})", *(end / 3600 for end in ends))
    return [Evidence("memory", "available_bytes is not null", phrase("{:bytes} available", available), "", when)]


def _first_steps(ends_s: float | None) -> tuple[Phrase, ...]:
    if ends_s is None or ends_s > YEAR_S:
        return ()
    return (phrase("Restart it within {:.3g h}, before the memory of the host ends.", ends_s / 3600),)
