"""Acting as another user for the length of a connection attempt: how root logs in where only `peer` is allowed.

PostgreSQL's `peer` method asks the kernel who connected, and root is seldom mapped to a role. Root may become the
server's own user instead. The C library's `seteuid` changes all threads of the process; the bare system call changes
the calling thread only, which is what is wanted here: the other collectors go on as root.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from doctord._native import act_as


def can_act_as(user_id: int | None) -> bool:
    """Whether this thread may take on the user: only root may, and root has no need to become root."""
    return bool(user_id) and os.geteuid() == 0


@contextmanager
def acting_as(user_id: int) -> Iterator[None]:
    """Run with that effective user id, in this thread only, and come back as root.

    Raises:
        OSError: The kernel refuses, as in a user namespace without that user.
    """
    act_as(user_id)
    try:
        yield
    finally:
        act_as(0)
