"""Forks that are slow, seen without a trace: by the system time of who starts others, and its size in /proc."""

from collections.abc import Iterator

from doctord.analyse.figures import figures
from doctord.analyse.host.accept_delays import BACKLOG, DELAY, SLOW_S, accept_delays
from doctord.analyse.host.parents import Parent, parents
from doctord.diagnose.case import Case
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import phrase

# A fork of a process of usual size takes well under a millisecond, also while it is traced; it takes 5 when page tables
# for some hundred megabytes in small pages are copied.
SLOW_FORK_S = 0.005
# Fewer children tell little: what else the process does is counted with them.
LEAST_CHILDREN = 10
# A tenth of a CPU: with less, nobody waits for the forks, unless clients were seen to.
BUSY_SHARE = 0.1
# What a copy of takes a millisecond and more; a fresh listener has a fraction of it.
LARGE_BYTES = 100e6
# A build or a run of tests starts processes all day and is large: it is nobody's trouble.
NOBODY_WAITS = Evidence(
    "statistic", f"name = '{DELAY}'", phrase("no client waits {:.1f s} to be connected to it", SLOW_S), "",
    "who serves no clients, or serves them soon enough, delays nobody by its forks",
)  # fmt: skip
SIZE = NotMeasured(
    "the size of the process that forks",
    "its /proc/PID/status was not read",
    "a sample more: a minute of doctord record",
)


def live_forks(case: Case) -> Iterator[Claim]:
    """Claims of large processes whose children cost them 5 ms of system time each and more."""
    waited_for = {delay.pid for delay in accept_delays(case.dataset)}
    # Where clients wait at a socket and it is not told who accepts there, it may be any of them.
    is_told_who = None not in waited_for and bool(figures(case.dataset, BACKLOG))
    for parent in parents(case.dataset):
        if parent.sys_s is None or parent.children < LEAST_CHILDREN:
            continue
        each_s, share = parent.sys_s / parent.children, parent.sys_s / parent.seconds
        is_felt = share >= BUSY_SHARE or parent.pid in waited_for
        is_small = parent.anon_bytes is not None and parent.anon_bytes < LARGE_BYTES
        if each_s >= SLOW_FORK_S and is_felt and not is_small:
            is_waited_for = parent.pid in waited_for
            for_, against = weigh([*_time(parent, each_s, share), *_size(parent)])
            against += [NOBODY_WAITS] if is_told_who and not is_waited_for else []
            yield _claim(parent, each_s, for_, against, is_waited_for=is_waited_for)


def _claim(
    parent: Parent, each_s: float, for_: list[Evidence], against: list[Evidence], *, is_waited_for: bool
) -> Claim:
    return Claim(
        phrase("A fork of {} takes up to {:time}", f"{parent.command} (pid {parent.pid})", each_s),
        impact=NOT_MEASURED,
        severity="note" if NOBODY_WAITS in against else None,
        explains_waits=NOBODY_WAITS not in against,
        confidence=0.5 if parent.anon_bytes is None else 0.85 if is_waited_for else 0.7,
        for_=for_,
        against=against,
        not_measured=[SIZE] if parent.anon_bytes is None else [],
        first_steps=[
            phrase("doctord trace --pid {} --for 10s: how long each fork takes.", parent.pid),
            phrase("Compare its memory with that of a freshly started one: a restart may make forks short again."),
        ],
        objects=[str(parent.pid)],  # who waits for another process does not wait for its forks
    )


def _time(parent: Parent, each_s: float, share: float) -> Iterator[Sign]:
    told = phrase("{:rate children}; all that it does in the kernel is counted in", parent.children / parent.seconds)
    yield Sign("process", f"pid = {parent.pid}", each_s * 1e3, SLOW_FORK_S * 1e3,
               "{:.1f ms} of system time for each child", told)  # fmt: skip
    yield Sign("process", f"pid = {parent.pid}", 100 * share, 100 * BUSY_SHARE, "{:.0f %} of a CPU in the kernel",
               "meanwhile it serves nobody", "it has time left for more")  # fmt: skip


def _size(parent: Parent) -> Iterator[Sign]:
    rows = f"name = 'process.anon_bytes' and entity = '{parent.entity}'"
    tables = parent.page_table_bytes
    copied = "" if tables is None else phrase(" (all of its tables: {:bytes})", tables)
    yield Sign("statistic", rows, parent.anon_bytes, LARGE_BYTES, "{:bytes} of its own memory",
               phrase("a fork copies the page tables of that{}", copied))  # fmt: skip
