"""Sum the system calls of running processes in the kernel, by programs at its raw tracepoints (bpf(2)).

Single calls are not seen: no path through other processes, no repetition, no files. What is seen costs the traced
process far less than strace does.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from doctord._native import CallCounter, syscall_number
from doctord.errors import UserError

# Calls in which a server waits for work, and those that accept a connection.
IDLE = ("poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2")
ACCEPT = ("accept", "accept4")
LOOK_S = 0.05

Sums = dict[str, Any]


def observe(
    pids: Sequence[int], seconds: float, *, progress: Callable[[float], None] | None = None
) -> tuple[Sums, float, str]:
    """Sum the calls of processes, their threads, and what they fork from now on.

    Args:
        pids: The processes; the first is the one whose passes are timed.
        seconds: How long.
        progress: Called a few times a second with the seconds gone.

    Returns:
        The sums as `CallCounter.sums` tells them, the seconds observed, and why it ended: `time`, `ended` (the first
        process did), or `interrupted` (by the user).

    Raises:
        UserError: the kernel does not grant it.
    """
    try:
        counter = CallCounter(pids, _numbers(IDLE), _numbers(ACCEPT))
    except OSError as refusal:
        raise UserError(
            f"the kernel does not let system calls be counted: {refusal}",
            "run it as root (CAP_BPF and CAP_PERFMON, from Linux 5.8 on), or trace with --how strace",
        ) from refusal
    began_s = time.monotonic()
    try:
        why = _wait(pids[0], began_s, seconds, progress)
    except KeyboardInterrupt:
        why = "interrupted"
    return counter.sums(), time.monotonic() - began_s, why


def _numbers(names: Sequence[str]) -> list[int]:
    return [number for name in names if (number := syscall_number(name)) is not None]


def _wait(pid: int, began_s: float, seconds: float, progress: Callable[[float], None] | None) -> str:
    while (gone_s := time.monotonic() - began_s) < seconds:
        if _has_ended(pid):
            return "ended"
        if progress:
            progress(gone_s)
        time.sleep(min(LOOK_S, seconds - gone_s))
    return "time"


def _has_ended(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state in {"Z", "X"}
