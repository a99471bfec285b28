"""bpftrace: whether it can be used here, and how it is started.

It reads what the tracepoints are from tracefs, which nobody has mounted on many machines. There it gets a mount of its
own, in a mount namespace that ends with it: the mounts of the host stay as they are.
"""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

TRACEFS = Path("/sys/kernel/tracing")
# debugfs mounts it by itself below its own place; see https://docs.kernel.org/trace/ftrace.html
PLACES = (TRACEFS, Path("/sys/kernel/debug/tracing"))
# util-linux's unshare makes every mount of the new namespace private: none is seen outside.
OWN_MOUNT = ("unshare", "--mount", "sh", "-c", f'mount -t tracefs nodev {TRACEFS} && exec "$@"', "sh")
MOUNT_HINT = f"mount -t tracefs nodev {TRACEFS}"
LIMITS = {"BPFTRACE_MAP_KEYS_MAX": "65536", "BPFTRACE_STRLEN": "32"}


def hindrance() -> tuple[str, str] | None:
    """Why bpftrace cannot be used here, and what to do; null when it can be tried."""
    if not shutil.which("bpftrace"):
        return "bpftrace is not installed", "apt install bpftrace (dnf install bpftrace)"
    if os.geteuid() != 0:
        return "bpftrace needs root", "run it as root"
    if not mounted() and (why := _own_mount_refused()):
        return f"tracefs is not mounted, and bpftrace may not mount it for itself ({why})", MOUNT_HINT
    return None


def mounted() -> bool:
    """Whether tracefs is mounted where bpftrace looks for it."""
    return any((place / "events").is_dir() for place in PLACES)


def note() -> str | None:
    """What the user should know about how bpftrace is started; null when there is nothing special."""
    return None if mounted() else "tracefs is not mounted here: bpftrace has mounted it for itself alone"


def start(program: str) -> subprocess.Popen[str]:
    """Start bpftrace, which prints JSON; signals reach it directly, and Ctrl-C does not: that is for us."""
    command = ["bpftrace", "-q", "-f", "json", "-e", program]
    return subprocess.Popen(
        command if mounted() else [*OWN_MOUNT, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, **LIMITS},
        text=True,
        errors="replace",
    )


@cache
def _own_mount_refused() -> str | None:
    """Why tracefs cannot be mounted in a namespace of its own; null when it can."""
    if missing := next((name for name in ("unshare", "mount") if not shutil.which(name)), None):
        return f"{missing} is not installed"
    tried = subprocess.run([*OWN_MOUNT, "true"], capture_output=True, text=True, errors="replace", check=False)
    said = tried.stderr.strip().splitlines() or [f"exit status {tried.returncode}"]
    return said[0] if tried.returncode else None
