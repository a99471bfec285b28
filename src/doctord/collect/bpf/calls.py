"""Sum the system calls of running processes in the kernel, with bpftrace on the raw_syscalls tracepoints.

Single calls are not seen: no path through other processes, no repetition, no files. What is seen costs the traced
process far less than strace does.
"""

import json
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from doctord._native import syscall_number
from doctord.collect.bpf import bpftrace
from doctord.errors import UserError

# Calls in which a server waits for work, and those that accept a connection.
IDLE = ("poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2")
ACCEPT = ("accept", "accept4")
START_S = 30.0
LOOK_S = 0.05

Sums = dict[str, Any]

# Maps by call: n number, ns time, h histogram, x longest, e errors. Of the process that is asked for: a accepts, i idle
# time, t passes and th their histogram, p and ph of those alone in which a connection was accepted; w idle waits by
# call.
# What ended is forgotten: its number may be another's next, and each key that is left costs time at the end.
# Each few seconds it prints something: should we be killed, it finds nobody to print for, and ends.
SCRIPT = """
BEGIN {{ {begin} printf("begun\\n"); }}
tracepoint:sched:sched_process_fork /@tree[pid]/ {{ @tree[args->child_pid] = 1; }}
tracepoint:sched:sched_process_exit /@tree[pid]/ {{
  delete(@start[tid]); delete(@call[tid]); delete(@back[tid]); delete(@taken[tid]);
  if (tid == pid) {{ delete(@tree[pid]); }}
}}
tracepoint:raw_syscalls:sys_enter /@tree[pid]/ {{
  @start[tid] = nsecs; @call[tid] = args->id;
  if (pid == {pid} && ({idle}) && @back[tid] > 0) {{
    $pass = nsecs - @back[tid];
    @t = stats($pass); @th = hist($pass);
    if (@taken[tid] > 0) {{ @p = stats($pass); @ph = hist($pass); }}
    @back[tid] = 0;
  }}
}}
tracepoint:raw_syscalls:sys_exit /@start[tid] > 0/ {{
  $ns = nsecs - @start[tid]; $id = @call[tid];
  @n[$id] = count(); @ns[$id] = sum($ns); @h[$id] = hist($ns); @x[$id] = max($ns);
  if (args->ret < 0) {{ @e[$id] = count(); }}
  if (pid == {pid}) {{
    if ({idle_exit}) {{ @back[tid] = nsecs; @taken[tid] = 0; @i = sum($ns); @w[$id] = count(); }}
    if (({accept_exit}) && args->ret >= 0) {{ @taken[tid] = 1; @a = count(); }}
  }}
  @start[tid] = 0;
}}
interval:s:5 {{ printf("on\\n"); }}
END {{ clear(@start); clear(@call); clear(@back); clear(@taken); clear(@tree); }}
"""


def observe(
    pids: Sequence[int], seconds: float, *, progress: Callable[[float], None] | None = None
) -> tuple[Sums, float, str]:
    """Sum the calls of processes, their threads, and what they fork from now on.

    Args:
        pids: The processes; the first is the one whose passes are timed.
        seconds: How long.
        progress: Called a few times a second with the seconds gone.

    Returns:
        bpftrace's maps by name (see SCRIPT; times in nanoseconds), the seconds observed, and why it ended: `time`,
        `ended` (bpftrace did), or `interrupted` (by the user).

    Raises:
        UserError: bpftrace is absent, or the kernel does not grant it.
    """
    if found := bpftrace.hindrance():
        raise UserError(*found)
    with bpftrace.start(script(pids)) as tracer:
        try:
            begun = bool(tracer.stdout and tracer.stdout.readline())
        except KeyboardInterrupt:
            tracer.kill()
            raise
        began_s = time.monotonic()
        try:
            why = _wait(tracer, began_s, seconds if begun else 0.0, progress)
        except KeyboardInterrupt:
            why = "interrupted"
        observed_s = time.monotonic() - began_s
        if tracer.poll() is None:
            tracer.send_signal(signal.SIGINT)
        out, said = tracer.communicate(timeout=START_S)
    if not begun:
        raise _refusal(said)
    return dict(_maps(out.splitlines())), observed_s, why


def script(pids: Sequence[int]) -> str:
    """The program that bpftrace runs for these processes."""
    return SCRIPT.format(
        pid=pids[0],
        begin=" ".join(f"@tree[{pid}] = 1;" for pid in pids),
        idle=_any_of("args->id", IDLE),
        idle_exit=_any_of("$id", IDLE),
        accept_exit=_any_of("$id", ACCEPT),
    )


def _any_of(value: str, names: Sequence[str]) -> str:
    numbers = [number for name in names if (number := syscall_number(name)) is not None]
    return " || ".join(f"{value} == {number}" for number in numbers)


def _wait(
    tracer: subprocess.Popen[str], began_s: float, seconds: float, progress: Callable[[float], None] | None
) -> str:
    while (gone_s := time.monotonic() - began_s) < seconds:
        if tracer.poll() is not None:
            return "ended"
        if progress:
            progress(gone_s)
        time.sleep(min(LOOK_S, seconds - gone_s))
    return "time"


def _maps(lines: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Name and content of each map; bpftrace prints each on a line of its own."""
    for line in lines:
        if line.startswith("{"):
            printed = json.loads(line)
            if printed["type"] in {"map", "hist", "stats"}:
                yield from ((name.removeprefix("@"), content) for name, content in printed["data"].items())


def _refusal(said: str) -> UserError:
    lines = [line for line in said.splitlines() if line.strip() and "RLIMIT_MEMLOCK" not in line]
    why = lines[0] if lines else "it wrote nothing"
    return UserError(
        f"bpftrace cannot trace system calls here: {why}",
        "the kernel may be locked down, or lack these tracepoints; trace with --how strace",
    )
