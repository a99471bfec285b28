"""A call trace, analysed: the types of what the native reader tells of it.

Made by docs/make_trace.py of what native/calltrace declares: change it there. The keys: docs/reference/trace.md.
Seconds are floats; null is what the trace does not show, never zero.
"""

from typing import TypedDict


class Skipped(TypedDict):
    """Lines that were not used, and why."""

    why: str
    lines: int
    first_line: int | None
    example: str


class About(TypedDict):
    """What was read."""

    files: list[str]
    tool: str
    kind: str
    clock: str | None
    began: str | None
    seconds: float | None
    bytes: int
    lines: int
    calls: int
    processes: int
    elapsed_is: str | None
    has_cpu: bool
    calls_without_detail: int
    gaps: int
    gap_seconds: float
    backwards: int
    skipped: list[Skipped]
    damage: list[str]


class Totals(TypedDict):
    """Sums over all processes."""

    elapsed_s: float | None
    in_calls_s: float | None
    outside_calls_s: float | None
    cpu_s: float | None
    user_s: float | None
    errors: int


# All calls of one name.
Call = TypedDict(
    "Call",
    {
        "call": str,
        "class": str,
        "count": int,
        "errors": int,
        "seconds": float | None,
        "cpu_s": float | None,
        "share": float | None,
        "mean_s": float | None,
        "p50_s": float | None,
        "p95_s": float | None,
        "p99_s": float | None,
        "max_s": float | None,
    },
)


class CallError(TypedDict):
    """How often a call failed in one way."""

    call: str
    error: str
    count: int
    seconds: float


class Process(TypedDict):
    """A process, or a thread of one."""

    pid: int
    thread: int | None
    parent: int | None
    role: str
    program: str | None
    began_s: float
    ended_s: float | None
    end: str | None
    calls: int
    errors: int
    in_calls_s: float
    outside_calls_s: float | None
    unseen_s: float
    cpu_s: float | None
    signals: int


class Target(TypedDict):
    """What descriptors stood for: a file, a socket's peer, a pipe."""

    target: str
    calls: int
    seconds: float
    reads: int
    read_bytes: int
    writes: int
    written_bytes: int
    sequential_reads: int
    random_reads: int
    seeks: int
    seeks_then_read: int
    syncs: int


class Size(TypedDict):
    """Calls that moved up to so many bytes, and more than the class before."""

    le_bytes: int
    calls: int
    bytes: int


class Sizes(TypedDict):
    """Sizes of what was read and written."""

    read: list[Size]
    write: list[Size]


class AnchorCall(TypedDict):
    """The call at which each pass of a loop waits for the next piece of work."""

    call: str
    arguments: str


class Passes(TypedDict):
    """Passes by length."""

    le_s: float
    passes: int


class Wait(TypedDict):
    """A step that costs time."""

    call: str
    arguments: str
    nth: int
    count: float
    seconds: float
    share: float | None
    on: str | None


class Step(TypedDict):
    """A call of a pass."""

    call: str
    arguments: str
    nth: int
    count: float
    seconds: float


class PathPart(TypedDict):
    """A part of the critical path."""

    depth: int
    role: str
    pid: int
    call: str
    arguments: str
    count: float
    seconds: float
    cpu_s: float | None
    share: float | None
    why: str | None


class Loop(TypedDict):
    """A service loop: what one process does again and again."""

    pid: int
    role: str
    program: str | None
    anchor: AnchorCall
    passes: int
    complete_passes: int
    wakeups: int
    seconds_per_pass: float
    p50_s: float
    p95_s: float
    min_s: float
    max_s: float
    mean_s: float
    distribution: list[Passes]
    max_passes_per_second: float | None
    at_least: bool
    own_cpu_s: float | None
    own_cpu_share: float | None
    outside_calls_s: float | None
    idle_s: float | None
    idle_share: float | None
    waits: list[Wait]
    steps: list[Step]
    path: list[PathPart]


class Repetition(TypedDict):
    """The same call, or sequence of calls, over and over."""

    call: str
    arguments: str
    sequence: list[str] | None
    pid: int
    role: str
    calls: int
    same_arguments: int
    seconds: float
    cpu_s: float | None
    on_critical_path: bool
    calls_per_pass: float | None
    seconds_per_pass: float | None
    share_of_pass: float | None
    errors: int
    error: str | None


class Amount(TypedDict):
    """How often memory of one size was asked for."""

    bytes: int
    count: int


class Growth(TypedDict):
    """How a process's memory grew."""

    pid: int
    role: str
    call: str
    reserved_bytes: int
    extents: list[Amount]
    chunks: list[Amount]
    mapped_bytes: int
    calls: int
    calls_per_mb: float | None
    page_size_requested: bool
    requests: int
    advice: str | None


class Forks(TypedDict):
    """What it cost a process to make others."""

    parent: int
    role: str
    call: str
    count: int
    mean_s: float | None
    p50_s: float | None
    max_s: float | None
    cpu_s: float | None
    mapped_bytes: int | None


class Bar(TypedDict):
    """A call on the timeline."""

    start_s: float
    seconds: float
    call: str
    arguments: str
    on_path: bool


class Row(TypedDict):
    """A process on the timeline."""

    pid: int
    role: str
    depth: int
    bars: list[Bar]


# One pass of usual length, for drawing.
Timeline = TypedDict(
    "Timeline",
    {
        "pass": int,
        "began_s": float,
        "seconds": float,
        "rows": list[Row],
        "bars_left_out": int,
    },
)


class Stack(TypedDict):
    """Calls from one place in the program."""

    call: str
    frames: list[str]
    count: int
    seconds: float


class Values(TypedDict):
    """Values from `low` to below `high`; null is without end."""

    low: float | None
    high: float | None
    count: int


class Histogram(TypedDict):
    """A distribution that a tool printed, in its own unit."""

    key: str
    unit: str | None
    buckets: list[Values]


class Used(TypedDict):
    """What the traced processes used a second; null when it could not be read."""

    cpu_ms_per_s: float | None
    switches_per_s: float | None


class Live(TypedDict):
    """How a running process was traced, and what that cost it."""

    how: str
    pid: int
    processes: int
    resident_bytes: int | None
    page_tables_bytes: int | None
    seconds: float
    ended: str
    before: Used
    during: Used
    note: str | None


class Trace(TypedDict):
    """The whole of what a trace tells."""

    trace: About
    totals: Totals
    calls: list[Call]
    errors: list[CallError]
    processes: list[Process]
    targets: list[Target]
    sizes: Sizes
    loop: Loop | None
    loops: list[Loop]
    repetitions: list[Repetition]
    memory: list[Growth]
    births: list[Forks]
    timeline: Timeline | None
    folded: dict[str, int]
    stacks: list[Stack]
    histograms: list[Histogram]
    live: Live | None
