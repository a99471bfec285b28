"""What bpftrace times on a host: block devices, the run queue, TCP connections, system calls."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from doctord._native import syscall_number
from doctord.collect.bpf.program import Moment, Span, program
from doctord.regex import regex

DEVICES = Path("/sys/dev/block")
OPERATIONS = ("read", "write", "discard", "flush")
RUN_QUEUE, TCP_CONNECT = "run queue", "tcp connect"
_ON_DEVICE = regex(rf"(\S+) ({'|'.join(OPERATIONS)})( queue)?")
_KEY = "args->dev, args->sector"
_ISSUE, _INSERT, _COMPLETE = (f"tracepoint:block:block_rq_{name}" for name in ("issue", "insert", "complete"))
_DEVICE = "args->dev, args->rwbs"
SPANS_OF_DEVICES = (
    Span([Moment(_ISSUE, _KEY)], Moment(_COMPLETE, _KEY), _DEVICE),
    Span([Moment(_INSERT, _KEY)], Moment(_ISSUE, _KEY), _DEVICE),
)
PREEMPTED = 256  # TASK_REPORT_MAX; TASK_STATE_MAX, which is larger, before Linux 4.14
MINOR_BITS = 20  # of the kernel's own device numbers


def device(number: int) -> str:
    """Name of a block device by the kernel's own number; the number itself when there is none such."""
    place = DEVICES / f"{number >> MINOR_BITS}:{number & ((1 << MINOR_BITS) - 1)}"
    return place.resolve().name if place.exists() else str(number)


def operation(rwbs: str) -> str:
    """What a request does, of the kernel's letters for it (blk_fill_rwbs): `WSM` is a write."""
    return next((name for letter, name in zip("RWD", OPERATIONS, strict=False) if letter in rwbs), "flush")


class _Host:
    """What all subjects of the host have in common: they are there as long as the host is."""

    db: str | None = None

    def __init__(self, name: str, period_s: float) -> None:
        self.name, self._period_s = name, period_s

    def identity(self) -> object:
        """Always null: what is traced of a host stays the same, unlike a server that is started again."""
        return None

    def always(self) -> Iterable[str]:
        """The one subject."""
        return (self.name,)


class Devices(_Host):
    """Requests of block devices: at the device, and in the queue before it. Null of `wanted`: of all devices."""

    def __init__(self, wanted: str | None, period_s: float) -> None:
        """`wanted` is a subject such as `vda read` or `vda write queue`."""
        super().__init__(wanted or "block devices", period_s)
        self._wanted = wanted
        self._names: dict[str, str] = {}

    def program(self) -> str:
        """The spans from issue to completion, and from insertion to issue."""
        return program(SPANS_OF_DEVICES, self._period_s)

    def subject(self, span: int, label: str) -> str | None:
        """`vda read`, or `vda read queue` for the time before it was issued to the device."""
        number, rwbs = label.split(",")
        if number not in self._names:
            self._names[number] = device(int(number))
        named = f"{self._names[number]} {operation(rwbs)}{' queue' if span else ''}"
        return named if self._wanted in {None, named} else None

    def always(self) -> Iterable[str]:
        """Only what was asked for: which others there will be is not known."""
        return (self._wanted,) if self._wanted else ()


class Spans(_Host):
    """One subject of the host, timed by one span."""

    def __init__(self, name: str, span: Span, period_s: float, condition: str = "") -> None:
        """`condition` is what the begin must meet: whose it is."""
        super().__init__(name, period_s)
        self._span, self._condition = span, condition

    def program(self) -> str:
        """The bpftrace program that times the span and prints its histogram every period."""
        return program([self._span], self._period_s, self._condition)

    def subject(self, _span: int, _label: str) -> str:
        """The name of what is timed, whichever span was printed: there is one."""
        return self.name


def run_queue(period_s: float) -> Spans:
    """From being woken up, or taken off the CPU while it could run, to running.

    The tracepoint tells of a task that was preempted in a state of its own, beyond those of tasks that sleep.
    """
    switch = "tracepoint:sched:sched_switch"
    could_run = f"(args->prev_state == 0 || args->prev_state >= {PREEMPTED})"
    begin = [
        Moment("tracepoint:sched:sched_wakeup", "args->pid"),
        Moment("tracepoint:sched:sched_wakeup_new", "args->pid"),
        Moment(
            switch,
            "args->prev_pid",
            f"{could_run} && args->prev_pid != 0",
        ),
    ]
    return Spans(RUN_QUEUE, Span(begin, Moment(switch, "args->next_pid")), period_s)


def tcp_connect(period_s: float) -> Spans:
    """From SYN_SENT (2) to ESTABLISHED (1); a connection that is refused is not counted."""
    state = "tracepoint:sock:inet_sock_set_state"
    begin = Moment(state, "args->skaddr", "args->newstate == 2")
    return Spans(
        TCP_CONNECT,
        Span([begin], Moment(state, "args->skaddr", "args->oldstate == 2 && args->newstate == 1")),
        period_s,
    )


def system_call(name: str, period_s: float, condition: str = "") -> Spans:
    """One system call, of all processes or of those that meet a condition."""
    begin, end = (Moment(f"tracepoint:syscalls:sys_{way}_{name}") for way in ("enter", "exit"))
    return Spans(name, Span([begin], end), period_s, condition)


def of_host(subject: str, period_s: float, condition: str = "") -> "Devices | Spans | None":
    """How to time a subject of the host; null when it is none."""
    if subject == RUN_QUEUE:
        return run_queue(period_s)
    if subject == TCP_CONNECT:
        return tcp_connect(period_s)
    if (match := _ON_DEVICE.fullmatch(subject)) and match[1] in devices():
        return Devices(subject, period_s)
    if syscall_number(subject) is not None:
        return system_call(subject, period_s, condition)
    return None


def devices() -> Sequence[str]:
    """Names of the block devices of this host, partitions among them, that of most requests first."""
    places = list(DEVICES.iterdir()) if DEVICES.exists() else []
    return [place.resolve().name for place in sorted(places, key=_requests, reverse=True)]


def _requests(place: Path) -> int:
    """Reads and writes since the device is there; 0 where that cannot be read."""
    try:
        fields = (place / "stat").read_text().split()
    except OSError:
        return 0
    return int(fields[0]) + int(fields[4])
