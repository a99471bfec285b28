"""What a call trace shows of a server: its loop at its limit, forks that are slow, calls repeated for nothing."""

from collections.abc import Iterator

from doctord.analyse.traces.calls import MOVES_DATA, WAITS, classes, clock_s, of_class, on_path, takes_several
from doctord.dataset.calltrace import Forks, Loop, Repetition, Trace
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.traces.cost import Cost, of_busy, of_pass
from doctord.diagnose.causes.traces.live_forks import SLOW_FORK_S, live_forks
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import Phrase, listed, phrase
from doctord.diagnose.words import arguments, shortened, who

# From a tenth of a second on a person feels a delay (R. B. Miller, "Response time in man-computer conversational
# transactions", 1968), and a client that comes during a pass waits for its end.
LONG_PASS_S = 0.1
# At 70 % busy a queue with one server makes a client wait for more than two services of others (M/M/1: 0.7 / 0.3).
BUSY = 0.7
# The busy share of fewer passes is chance.
PASSES_TO_TELL = 10
TICKS_TO_TELL = 2
# Programs call the same thing a few times at each start of theirs; ten times in one pass is a loop around it.
REPEATED = 10
FAILING = 0.9
# What such a call returns is not known beforehand, or it takes long because another one is awaited.
SIZE_NOT_SEEN = NotMeasured(
    "The size of the process that forks",
    "a call trace shows what it maps from now on, not what it had",
    "ps -o pid,vsz,rss -p PID, for it and for a freshly started one; doctord trace --pid tells it.",
)
HAS_A_POINT = MOVES_DATA | WAITS | {"seek", "sync", "fork", "exec", "exit", "memory"}


@cause()
def single_threaded_limit(case: Case) -> Iterator[Claim]:
    """One process serves one client after the other, and its pass takes so long that others queue.

    Looks like: clients wait seconds to connect while the host looks idle; accept() returns long after the client
        connected; the passes of one process's loop are long, and most of each is waiting.
    Hurts because: the next client is not even looked at before the pass ends; above one over the length of a pass
        connections queue in the backlog, and then are dropped.
    Speaks for it: seconds per pass, what the process waits for in it, how much of the time it is busy.
    Speaks against it: idle time between the passes: the limit is there, but was not reached while the trace was taken.
    Remedy: Shorten what each pass waits for (other findings name it); run several such servers, each on a port or an
        address of its own; put a connection pool between, so that fewer connections are opened.
    Verify: Another trace under the same load: seconds per pass fall, and listen drops and overflows stay at zero.
    Source: R. Milkowski, "Oracle's listener performance", 2008; L. Kleinrock, "Queueing Systems", 1975 (M/M/1).
    """
    loop = case.trace["loop"] if case.trace else None
    if case.trace is None or loop is None or not _accepts(case.trace, loop) or takes_several(case.trace, loop):
        return
    a_pass, rate, busy = loop["mean_s"], loop["max_passes_per_second"], _busy_share(loop)
    if not a_pass or rate is None or (a_pass < LONG_PASS_S and (busy or 0.0) < BUSY):
        return
    for_, against = weigh(_signs_of_limit(loop, a_pass, busy))
    yield Claim(
        phrase("{} serves one at a time, at most {:rate}", who(loop["role"]), rate),
        impact=_waited_s(loop) / a_pass,
        time_of="pass",
        confidence=0.95 if busy is not None and busy >= BUSY else 0.85,
        for_=for_,
        against=against,
        not_measured=[
            NotMeasured(
                "The accept queue",
                "a call trace begins when accept() returns, and does not say how long the client had waited by then",
                "doctord checkup counts full accept queues and dropped connections.",
            )
        ],
    )


@cause(explains=("clients_wait_to_connect", "accept_queue_overflow", "logins_slow"))
def slow_fork(case: Case) -> Iterator[Claim]:
    """Making a process takes long, because the process that is copied is large.

    Looks like: fork(), clone() or fork1() take milliseconds, and most of it is CPU time. Without a trace: a process
        that starts others uses milliseconds of system time for each of them.
    Hurts because: fork copies the page tables of the whole process, whatever the child does next; the parent stands
        still meanwhile.
    Speaks for it: the length of the forks, their CPU time, their share of the pass.
    Speaks against it: forks that waited and did not compute: then CPU or memory was short. A log with whole seconds
        tells nothing of forks shorter than two. Without a trace: time left between the forks; that no client waits to
        be connected to it, which makes it a note.
    Remedy: Look whether the process leaks (compare its resident size with a fresh one) and restart or patch it; let a
        small helper do the forking, or posix_spawn() or vfork() where an exec follows; use huge pages for large shared
        memory, whose page tables are then small.
    Verify: Another trace: the length of a fork falls with the size of the process that forks.
    Source: R. Milkowski, "Oracle's listener performance", 2008 (a listener of 400 MB against one of 23 MB).
    """
    if case.trace is None:
        yield from live_forks(case)
        return
    # Of a length of one tick nobody knows whether it is a tick or none.
    least = max(SLOW_FORK_S, TICKS_TO_TELL * (clock_s(case.trace) or 0.0))
    slow = [forks for forks in case.trace["births"] if forks["mean_s"] is not None and forks["mean_s"] >= least]
    forks = on_path(case.trace, "fork")
    spent = of_pass(case.trace, sum(part["seconds"] for part in forks)) if forks else None
    spent = spent or of_busy(case.trace, sum(forks["count"] * (forks["mean_s"] or 0.0) for forks in slow))
    if not slow or spent is None or not spent.worth_saying:
        return
    longest = max(slow, key=lambda forks: forks["mean_s"] or 0.0)
    yield Claim(
        phrase("A fork of {} takes {:time}; forks are {}", who(longest["role"]), longest["mean_s"] or 0.0, spent.told),
        impact=spent.share,
        time_of=spent.of,
        confidence=0.85 if longest["cpu_s"] is not None else 0.6,
        for_=[*(_forks(forks) for forks in slow[:3]), *_size(case.trace)],
        not_measured=[] if _size(case.trace) else [SIZE_NOT_SEEN],
    )


@cause()
def repeated_call(case: Case) -> Iterator[Claim]:
    """The same call with the same arguments, over and over, where its answer is known by then.

    Looks like: tens or hundreds of one call in each pass, each of them short, together a part of the pass.
    Hurts because: each costs a change to the kernel and back, and what the kernel does; the client waits for the sum.
    Speaks for it: number and time of the calls, and that they are on the critical path of the pass.
    Speaks against it: arguments that differ; calls beside the critical path, for which nobody waits.
    Remedy: Find who calls (strace -k, or pstack while it runs): a library, a loop around a lookup, a setting. Keep the
        answer instead of asking again, or turn off what asks.
    Verify: Another trace: the calls are gone, and the pass is shorter by their time (doctord trace BEFORE AFTER).
    Source: R. Milkowski, "Oracle's listener performance", 2008 (75 calls of cladm() for each connection).
    """
    if case.trace is None:
        return
    for repeated in case.trace["repetitions"]:
        spent = _cost_of(case.trace, repeated)
        if _pointless(case.trace, repeated) and not _fails(repeated) and spent and spent.worth_saying:
            yield Claim(
                phrase("{} is called {:.0f} times over, {}", _shown(repeated), _times(repeated, spent), spent.told),
                impact=spent.share,
                time_of=spent.of,
                confidence=0.85 if repeated["on_critical_path"] else 0.6,
                for_=_for_repetition(repeated, spent),
                against=_against_repetition(repeated),
            )


@cause()
def failed_calls_loop(case: Case) -> Iterator[Claim]:
    """The same call fails over and over with the same error.

    Looks like: hundreds of calls with one error and hardly a success among them.
    Hurts because: the program tries again what cannot work, and pays for each try.
    Speaks for it: number, error and time of the failed calls.
    Speaks against it: successes among them: then it is polling for something that comes.
    Remedy: Give it what it looks for (the file, the right, the address), or take the wrong entry out of the path or
        the setting that makes it look there; where it polls without waiting, let it wait.
    Verify: Another trace: the errors are gone.
    Source: B. Gregg, "Systems Performance", 2nd edition, 2020, chapter 5 (failed system calls as a start of tuning).
    """
    if case.trace is None:
        return
    for repeated in case.trace["repetitions"]:
        spent = _cost_of(case.trace, repeated)
        if _fails(repeated) and repeated["calls"] >= REPEATED and spent and spent.worth_saying:
            share = repeated["errors"] / repeated["calls"]
            failed = phrase("{:share} of the calls failed, {} of {}", share, repeated["errors"], repeated["calls"])
            yield Claim(
                phrase(
                    "{} fails with {} over and over, {}", _shown(repeated), repeated["error"] or "an error", spent.told
                ),
                impact=spent.share,
                time_of=spent.of,
                confidence=0.85,
                for_=[
                    Evidence(
                        "trace",
                        "repetitions",
                        failed,
                        phrase("{:share}", FAILING),
                        phrase("by {}", who(repeated["role"])),
                        "at_least",
                    ),
                    *_for_repetition(repeated, spent),
                ],
            )


def _accepts(trace: Trace, loop: Loop) -> bool:
    """Whether the loop is that of a server, which takes in clients."""
    accepting = {call["call"] for call in of_class(trace, "accept")}
    return any(name in accepting for name in (loop["anchor"]["call"], *(step["call"] for step in loop["steps"])))


def _signs_of_limit(loop: Loop, a_pass: float, busy: float | None) -> Iterator[Sign]:
    own = "" if loop["own_cpu_s"] is None else phrase("; {:time} of it is its own CPU", loop["own_cpu_s"])
    waits = phrase("{}: meanwhile it serves nobody", _largest_waits(loop))
    comes = phrase("a client that comes meanwhile waits for its end{}", own)
    full = "from here on clients queue more often than not"
    waited = 100 * _waited_s(loop) / a_pass
    yield Sign("trace", "loop.mean_s", a_pass * 1e3, LONG_PASS_S * 1e3, "{:.1f ms} a pass", comes, "short")
    yield Sign("trace", "loop.waits", waited, 50, "{:.0f %} of the pass is waiting", waits)
    if busy is not None:
        reached = "the limit was not reached while this was traced"
        yield Sign("trace", "loop.idle_share", 100 * busy, 100 * BUSY, "busy {:.0f %} of the time", full, reached)


def _waited_s(loop: Loop) -> float:
    return sum(wait["seconds"] for wait in loop["waits"])


def _busy_share(loop: Loop) -> float | None:
    known = loop["idle_share"] is not None and loop["passes"] >= PASSES_TO_TELL
    return 1 - loop["idle_share"] if known and loop["idle_share"] is not None else None


def _largest_waits(loop: Loop) -> Phrase:
    waits = [wait for wait in loop["waits"] if wait["seconds"]][:4]
    return listed(*(phrase("{} {:time}", wait["call"], wait["seconds"]) for wait in waits))


def _size(trace: Trace) -> list[Evidence]:
    """How large the process is that was traced while it ran."""
    live = trace["live"]
    if live is None or live["resident_bytes"] is None:
        return []
    tables = live["page_tables_bytes"]
    copied = "" if tables is None else phrase(" and {:bytes} of page tables, which a fork copies", tables)
    figure = phrase("process {}: {:bytes} resident{}", live["pid"], live["resident_bytes"], copied)
    return [Evidence("trace", "live", figure, "", "compare it with a freshly started one")]


def _forks(forks: Forks) -> Evidence:
    each = phrase(
        "{:time} for a {}() by {}, {} of them",
        forks["mean_s"] or 0.0,
        forks["call"],
        who(forks["role"]),
        forks["count"],
    )
    cpu = forks["cpu_s"]
    why = (
        ""
        if cpu is None
        else phrase("{:time} of CPU time: it copies page tables", cpu)
        if cpu
        else "hardly any CPU time"
    )
    return Evidence("trace", "births", each, phrase("{:time}", SLOW_FORK_S), why, "at_least")


def _pointless(trace: Trace, repeated: Repetition) -> bool:
    """Whether it is a call, or starts a sequence, of which the program knows the answer after the first."""
    first = repeated["sequence"][0] if repeated["sequence"] else repeated["call"]
    often = repeated["calls_per_pass"] if repeated["on_critical_path"] else repeated["calls"]
    return (often or 0) >= REPEATED and classes(trace).get(first, "other") not in HAS_A_POINT


def _fails(repeated: Repetition) -> bool:
    return repeated["errors"] >= FAILING * repeated["calls"] > 0


def _cost_of(trace: Trace, repeated: Repetition) -> Cost | None:
    on_pass = of_pass(trace, repeated["seconds_per_pass"]) if repeated["on_critical_path"] else None
    return on_pass or of_busy(trace, repeated["seconds"])


def _shown(repeated: Repetition) -> str:
    if repeated["sequence"]:
        return shortened(" then ".join(f"{name}()" for name in repeated["sequence"]), 60)
    return f"{repeated['call']}({arguments(repeated['arguments'], 40)})"


def _times(repeated: Repetition, spent: Cost) -> float:
    per_pass = repeated["calls_per_pass"] if spent.of == "pass" else None
    return repeated["calls"] if per_pass is None else per_pass


def _for_repetition(repeated: Repetition, spent: Cost) -> list[Evidence]:
    seconds, cpu = repeated["seconds"], repeated["cpu_s"]
    length = "of unknown length" if seconds is None else phrase("{:time} in sum", seconds)
    of_cpu = "" if cpu is None else phrase(", {:time} of it CPU", cpu)
    saved = repeated["seconds_per_pass"]
    why = "they are on the critical path" if repeated["on_critical_path"] else "no loop waits for them"
    gain = phrase("; without them a pass is {:time} shorter", saved) if saved and spent.of == "pass" else ""
    return [
        Evidence(
            "trace",
            "repetitions",
            phrase("{} calls by {}, {}{}", repeated["calls"], who(repeated["role"]), length, of_cpu),
            "",
            "",
        ),
        Evidence(
            "trace",
            "repetitions",
            spent.told,
            phrase("{:share}", spent.threshold),
            phrase("{}{}", why, gain),
            "at_least",
        ),
    ]


def _against_repetition(repeated: Repetition) -> list[Evidence]:
    same, all_calls = repeated["same_arguments"], repeated["calls"]
    if same > all_calls / 2:
        return []
    return [
        Evidence(
            "trace",
            "repetitions",
            phrase("{} of {} with the same arguments", same, all_calls),
            "half",
            "they may differ",
        )
    ]
