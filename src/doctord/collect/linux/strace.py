"""Record the system calls of running processes with strace.

strace stops the traced process twice for each call: nothing shows more, and nothing costs more.
"""

import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from doctord.errors import UserError

# Contents of buffers are not shown anyway; paths are printed whole.
OPTIONS = ("-f", "-ttt", "-T", "-y", "-s", "16")
LOOK_S = 0.05
RELEASE_S = 10.0


def hindrance() -> tuple[str, str] | None:
    """Why strace cannot be used here, and what to do; null when it is there."""
    if not shutil.which("strace"):
        return "strace is not installed", "apt install strace (dnf install strace)"
    return None


def record(
    pids: Sequence[int],
    seconds: float,
    log: Path,
    *,
    limit_bytes: int,
    progress: Callable[[float], None] | None = None,
) -> str:
    """Trace processes, their threads, and what they fork from now on, and let them go.

    Args:
        pids: The processes.
        seconds: How long.
        log: The file that strace writes.
        limit_bytes: Size of the log at which to stop before the time is over.
        progress: Called a few times a second with the seconds gone.

    Returns:
        Why it ended: `time`, `limit`, `ended` (the processes did), or `interrupted` (by the user).

    Raises:
        UserError: strace is absent, or may not attach.
    """
    if found := hindrance():
        raise UserError(*found)
    command: list[str | Path] = ["strace", *OPTIONS, "-o", log, *(word for pid in pids for word in ("-p", str(pid)))]
    # A session of its own: Ctrl-C is for us, and strace is told to let go in any case.
    with subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True) as tracer:
        try:
            why = _wait(tracer, seconds, log, limit_bytes, progress)
        except KeyboardInterrupt:
            why = "interrupted"
        finally:
            _release(tracer)
        said = tracer.stderr.read().decode(errors="replace") if tracer.stderr else ""
    if not log.exists() or (tracer.returncode == 1 and not log.stat().st_size):
        raise _refusal(said)
    return why


def _wait(
    tracer: subprocess.Popen[bytes],
    seconds: float,
    log: Path,
    limit_bytes: int,
    progress: Callable[[float], None] | None,
) -> str:
    began_s = time.monotonic()
    while (gone_s := time.monotonic() - began_s) < seconds:
        if tracer.poll() is not None:
            return "ended"
        if log.exists() and log.stat().st_size > limit_bytes:
            return "limit"
        if progress:
            progress(gone_s)
        time.sleep(min(LOOK_S, seconds - gone_s))
    return "time"


def _release(tracer: subprocess.Popen[bytes]) -> None:
    """End strace so that it lets the traced processes go on."""
    if tracer.poll() is None:
        tracer.send_signal(signal.SIGINT)
    try:
        tracer.wait(RELEASE_S)
    except subprocess.TimeoutExpired:
        tracer.kill()


def _refusal(said: str) -> UserError:
    lines = [line for line in said.splitlines() if line.strip()]
    why = lines[0].removeprefix("strace: ") if lines else "strace wrote nothing"
    hint = "try again with a process that lives"
    if "not permitted" in said:
        hint = (
            "run as root or as the process's user, and see kernel.yama.ptrace_scope; in a container give CAP_SYS_PTRACE"
        )
    return UserError(f"strace cannot trace it: {why}", hint)
