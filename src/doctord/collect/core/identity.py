"""Acting as another user for the length of a connection attempt: how root logs in where only `peer` is allowed.

PostgreSQL's `peer` method asks the kernel who connected, and root is seldom mapped to a role. Root may become the
server's own user instead. The C library's `seteuid` changes all threads of the process; the bare system call changes
the calling thread only, which is what is wanted here: the other collectors go on as root.
"""

import ctypes
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_SETRESUID: Final = {"x86_64": 117, "aarch64": 147, "riscv64": 147, "loongarch64": 147, "ppc64le": 164, "s390x": 208}
"""Number of setresuid(2); an architecture that is missing here connects as root."""
_UNCHANGED: Final = ctypes.c_long(-1)


def can_act_as(user_id: int | None) -> bool:
    """Whether this thread may take on the user: only root may, and root has no need to become root."""
    return bool(user_id) and os.geteuid() == 0 and platform.machine() in _SETRESUID


@contextmanager
def acting_as(user_id: int) -> Iterator[None]:
    """Run with that effective user id, in this thread only, and come back as root.

    Raises:
        OSError: The kernel refuses, as in a user namespace without that user.
    """
    _set_effective(user_id)
    try:
        yield
    finally:
        _set_effective(0)


def _set_effective(user_id: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    number = ctypes.c_long(_SETRESUID[platform.machine()])
    if libc.syscall(number, _UNCHANGED, ctypes.c_long(user_id), _UNCHANGED) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
