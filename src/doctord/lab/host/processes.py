"""Starting processes that never outlive the lab, and ending the lab in an orderly way."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from doctord.lab.errors import LabError

_STOP_S = 10.0
_ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def server_user() -> str | None:
    """The user that the server runs as: null for our own, since PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


def tied(command: Sequence[str | Path], *, on_death: str = "KILL", user: str | None = None) -> list[str]:
    """The command, changed so that the kernel sends it `on_death` when the lab dies, and so that it runs as `user`."""
    if shutil.which("setpriv") is None:
        raise LabError("setpriv was not found", "install util-linux")
    prefix = ["setpriv", "--pdeathsig", on_death]
    if user is not None:
        account = pwd.getpwnam(user)
        prefix += [f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups"]
    return [*prefix, "--", *map(str, command)]


def free_port() -> int:
    """A port of the loopback that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def end(process: subprocess.Popen[bytes], how: signal.Signals) -> None:
    """Send a server a signal, and kill it where it does not end of it."""
    process.send_signal(how)
    try:
        process.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def running(command: Sequence[str | Path], log: Path, *, on_death: str = "KILL") -> Iterator[subprocess.Popen[bytes]]:
    """Run a command beside us, its output in `log`; end it, and what it has started, on the way out.

    `on_death` is what it is sent when the lab dies: another signal for one that has to put something right before.
    """
    with log.open("ab") as output:
        process = subprocess.Popen(
            tied(command, on_death=on_death), stdin=subprocess.DEVNULL, stdout=output, stderr=output, process_group=0
        )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def orderly_end() -> Iterator[None]:
    """Turn Ctrl-C, SIGTERM and SIGHUP into SystemExit, so that every `finally` runs; later ones do not disturb it."""

    def leave(number: int, _frame: FrameType | None) -> None:
        for ending in _ENDINGS:
            signal.signal(ending, signal.SIG_IGN)
        raise SystemExit(128 + number)

    before = [(ending, signal.signal(ending, leave)) for ending in _ENDINGS]
    try:
        yield
    finally:
        for ending, handler in before:
            signal.signal(ending, handler)
