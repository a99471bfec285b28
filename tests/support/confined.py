"""Runs a command under the restrictions of a systemd unit, where no systemd runs; they are read from the unit itself.

    python tests/confined.py UNIT FOLDER COMMAND...

As root. FOLDER takes the place of the unit's state directory: the one place that may be written. Two steps, each this
very file: the mounts need root, and what comes after `setpriv` has neither root nor a way back. What each restriction
forbids is what systemd's own src/shared/seccomp-util.c and src/core/namespace.c forbid.
"""

import ctypes
import errno
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

KEPT: Final = Path(__file__).with_name("system_service_calls.txt")

PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN = 65, 1  # since Linux 6.3
CLONE_NEWNS, MS_BIND, MS_REC, MS_PRIVATE, MOUNT_SETATTR = 0x20000, 0x1000, 0x4000, 0x40000, 442
AT_FDCWD, AT_RECURSIVE, MOUNT_ATTR_RDONLY = -100, 0x8000, 1
SHARED_MEMORY: Final = b"/dev/shm"  # as all of /dev, which ProtectSystem leaves to PrivateDevices
PROT_WRITE, PROT_EXEC, SHM_EXEC, O_CREAT, SET_ID_BITS = 2, 4, 0o100000, 0o100, (0o4000, 0o2000)
NAMESPACES = (0x80, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)
REALTIME = (1, 2, 6)  # FIFO, round robin, deadline
FAMILIES: Final = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10, "AF_NETLINK": 16, "AF_PACKET": 17}
FAMILIES_AT_MOST = 64
ALLOW, ERRNO, NE, EQ, GT, MASKED = 0x7FFF0000, 0x00050000, 1, 4, 6, 7

IN_THE_MOUNTS: Final = {
    "StateDirectory", "ProtectSystem", "ProtectHome", "ProtectControlGroups", "ProtectKernelTunables",
}  # fmt: skip
IN_SETPRIV: Final = {"CapabilityBoundingSet", "AmbientCapabilities", "NoNewPrivileges"}
IN_THE_SYSTEM_CALLS: Final = {
    "SystemCallFilter", "SystemCallErrorNumber", "SystemCallArchitectures", "MemoryDenyWriteExecute",
    "RestrictNamespaces", "RestrictRealtime", "RestrictAddressFamilies", "RestrictSUIDSGID", "LockPersonality",
    # Calls that @system-service has not, and capabilities that are gone:
    "ProtectClock", "ProtectHostname", "ProtectKernelLogs", "ProtectKernelModules",
}  # fmt: skip
BY_THE_TEST: Final = {"MemoryMax", "TasksMax"}  # it measures what the processes take: no group need be made
NOT_HERE: Final = {  # they forbid nothing, but for:
    "ExecStart", "User", "Group", "StateDirectoryMode", "UMask", "Restart", "RestartSec", "TimeoutStopSec",
    "PrivateTmp", "RemoveIPC", "Nice", "IOSchedulingClass", "IOSchedulingPriority", "OOMScoreAdjust", "OOMPolicy",
    "PrivateDevices",  # and nothing that is started opens a device
}  # fmt: skip

libc = ctypes.CDLL(None, use_errno=True)


def directives(unit: str) -> dict[str, str]:
    """What a unit's text says of its service."""
    lines = [line.strip() for line in unit.partition("[Service]")[2].partition("[Install]")[0].splitlines()]
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def command(unit: Path, folder: Path, *words: str | Path) -> list[str]:
    """The command that runs another one under a unit's restrictions, with a folder that it may write to."""
    return [sys.executable, __file__, str(unit), str(folder), *map(str, words)]


def why_not() -> str | None:
    """Why no command can be confined here; null where one can."""
    if os.geteuid() != 0:
        return "mounts of its own and capabilities need root"
    try:
        ctypes.CDLL("libseccomp.so.2")
    except OSError:
        return "libseccomp.so.2 is not installed: apt-get install libseccomp2"
    # The file's own confined run, of a program that does nothing.
    tried = subprocess.run([sys.executable, __file__, "--try"], capture_output=True, text=True, check=False)
    return None if tried.returncode == 0 else f"no mounts can be made here: {tried.stderr.strip()[-200:]}"


def _done(result: int) -> None:
    if result < 0:
        number = ctypes.get_errno() or -result
        raise OSError(number, os.strerror(number))


def mount_read_only(folder: Path | None) -> None:
    """Everything, but for one folder, in a mount namespace of our own."""
    _done(libc.unshare(CLONE_NEWNS))
    _done(libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None))
    if folder is None:
        return
    _done(libc.mount(bytes(folder), bytes(folder), None, MS_BIND, None))
    writable = [bytes(folder), *([SHARED_MEMORY] if os.path.ismount(SHARED_MEMORY) else [])]
    for path, flags, (given, taken) in (
        (b"/", AT_RECURSIVE, (MOUNT_ATTR_RDONLY, 0)),
        *((path, 0, (0, MOUNT_ATTR_RDONLY)) for path in writable),
    ):
        attributes = (ctypes.c_uint64 * 4)(given, taken, 0, 0)
        _done(libc.syscall(MOUNT_SETATTR, AT_FDCWD, path, flags, ctypes.byref(attributes), ctypes.sizeof(attributes)))


def without_privilege(unit: dict[str, str]) -> list[str]:
    """`setpriv` with what a unit says of capabilities. The user stays: root without them may no more."""
    names = unit["CapabilityBoundingSet"].split()
    kept = ",".join(["-all", *(f"+{name.removeprefix('CAP_').lower()}" for name in names)])
    sets = [f"--{which}={kept}" for which in ("bounding-set", "inh-caps", "ambient-caps")]
    return ["setpriv", "--clear-groups", *sets, "--no-new-privs"]


class Comparison(ctypes.Structure):
    """libseccomp's `scmp_arg_cmp`."""

    _fields_ = (("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64))


class Filter:
    """A seccomp filter, by way of libseccomp."""

    def __init__(self, otherwise: int) -> None:
        """`otherwise`: what is done with a call that no rule names."""
        self._library = ctypes.CDLL("libseccomp.so.2", use_errno=True)
        self._library.seccomp_init.restype = ctypes.c_void_p
        self._context = ctypes.c_void_p(self._library.seccomp_init(ctypes.c_uint32(otherwise)))

    def rule(self, action: int, name: str, *wanted: tuple[int, int, int, int]) -> None:
        """What is done with a call of this name whose arguments are so (position, operator, two values)."""
        number = self._library.seccomp_syscall_resolve_name(name.encode())
        if number < 0:
            return  # not of this architecture
        array = (Comparison * max(1, len(wanted)))(*(Comparison(*one) for one in wanted))
        add = self._library.seccomp_rule_add_array
        _done(add(self._context, ctypes.c_uint32(action), number, ctypes.c_uint(len(wanted)), array))

    def load(self) -> None:
        """From here on it holds, for this process and what it starts."""
        _done(self._library.seccomp_load(self._context))


def refused(*rules: tuple[str, tuple[tuple[int, int, int, int], ...]], error: int = errno.EPERM) -> Filter:
    """A filter that refuses some calls."""
    made = Filter(ALLOW)
    for name, wanted in rules:
        made.rule(ERRNO | error, name, *wanted)
    return made


def writable_code() -> Filter:
    """MemoryDenyWriteExecute, which also asks the kernel itself where that is new enough."""
    libc.prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0)
    both, execute = PROT_WRITE | PROT_EXEC, ((2, MASKED, PROT_EXEC, PROT_EXEC),)
    return refused(
        ("mmap", ((2, MASKED, both, both),)),
        ("mprotect", execute),
        ("pkey_mprotect", execute),
        ("shmat", ((2, MASKED, SHM_EXEC, SHM_EXEC),)),
    )


def namespaces() -> Filter:
    """RestrictNamespaces."""
    made = refused(*(("clone", ((0, MASKED, flag, flag),)) for flag in NAMESPACES), ("unshare", ()), ("setns", ()))
    made.rule(ERRNO | errno.ENOSYS, "clone3")  # its flags lie in memory, where no filter sees them
    return made


def families(allowed: Iterable[str]) -> Filter:
    """RestrictAddressFamilies."""
    kept = {FAMILIES[name] for name in allowed}
    others = (("socket", ((0, EQ, family, 0),)) for family in range(FAMILIES_AT_MOST + 1) if family not in kept)
    return refused(*others, ("socket", ((0, GT, FAMILIES_AT_MOST, 0),)), error=errno.EAFNOSUPPORT)


def set_id_bits() -> Filter:
    """RestrictSUIDSGID."""
    places = {"chmod": 1, "fchmod": 1, "fchmodat": 2, "mkdir": 1, "mkdirat": 2, "mknod": 1, "mknodat": 2, "creat": 1}
    modes = (("open", 1, 2), ("openat", 2, 3))
    return refused(
        *((name, ((place, MASKED, bit, bit),)) for name, place in places.items() for bit in SET_ID_BITS),
        *(
            (name, ((flags, MASKED, O_CREAT, O_CREAT), (mode, MASKED, bit, bit)))
            for name, flags, mode in modes
            for bit in SET_ID_BITS
        ),
    )


def service_calls(name: str) -> Filter:
    """SystemCallFilter with one of systemd's own sets."""
    if name != "@system-service":
        raise ValueError(f"SystemCallFilter={name} is none that is known here")
    made = Filter(ERRNO | errno.EPERM)
    for call in KEPT.read_text().split():
        made.rule(ALLOW, call)
    return made


SYSTEM_CALLS: Final[dict[str, Callable[[str], Filter]]] = {
    "MemoryDenyWriteExecute": lambda _: writable_code(),
    "RestrictNamespaces": lambda _: namespaces(),
    "RestrictRealtime": lambda _: refused(*(("sched_setscheduler", ((1, EQ, policy, 0),)) for policy in REALTIME)),
    "RestrictAddressFamilies": lambda value: families(value.split()),
    "RestrictSUIDSGID": lambda _: set_id_bits(),
    "LockPersonality": lambda _: refused(("personality", ((0, NE, libc.personality(0xFFFFFFFF), 0),))),
    "SystemCallFilter": service_calls,  # the last: it leaves no call to add another with
}


def main(unit: str, folder: str, *words: str) -> None:
    """Confine this process and become the command."""
    told = directives(Path(unit).read_text())
    if words[0] != "--confined":
        mount_read_only(Path(folder))
        again = [sys.executable, __file__, unit, folder, "--confined", *words]
        os.execvp("setpriv", [*without_privilege(told), *again])  # noqa: S606 - none needed
    made = [make(told[name]) for name, make in SYSTEM_CALLS.items() if told.get(name, "no") != "no"]
    for one in made:
        one.load()
    os.execv(words[1], words[1:])  # noqa: S606 - likewise


if __name__ == "__main__":
    if sys.argv[1:] == ["--try"]:
        mount_read_only(None)
    else:
        main(*sys.argv[1:])
