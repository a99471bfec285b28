"""The lab's temporary folder: private, removed at the end, and swept by the next run when its owner was killed.

It is in $TMPDIR, else in /var/tmp: /tmp is often in memory, where a commit costs nothing and no disk can be throttled.
"""

import logging
import os
import pwd
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from doctord.lab.errors import LabError
from doctord.lab.host.processes import server_user

log = logging.getLogger("doctord.lab")

PREFIX = "doctord-lab-"
_KEEP = "keep"


def is_stale(name: str) -> bool:
    """Whether something named `doctord-lab-PID...` belongs to a process that is gone."""
    owner = re.match(rf"{PREFIX}(\d+)", name)
    return owner is not None and not Path("/proc", owner[1]).exists()


def sweep() -> None:
    """Remove the folders of labs that were killed before they could do so; several labs may at the same time."""
    for folder in parent_folder().glob(f"{PREFIX}*"):
        with suppress(FileNotFoundError):  # another lab was first
            ours = folder.is_dir() and not folder.is_symlink() and folder.stat().st_uid in _our_uids()
            if ours and is_stale(folder.name) and not (folder / _KEEP).exists():
                log.info("removing %s, left behind by a lab that was killed", folder)
                shutil.rmtree(folder.rename(folder.with_name(f"{PREFIX}{os.getpid()}-of-{folder.name}")))


@contextmanager
def private_folder(*, keep: bool = False) -> Iterator[Path]:
    """A new folder for the server and its logs; it stays after the run when `keep` is set.

    Raises:
        LabError: it cannot be made.
    """
    try:
        folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=parent_folder()))
    except OSError as error:
        raise LabError(f"{parent_folder()}: {error.strerror}", "set TMPDIR to a folder that you may write") from error
    try:
        give(folder)
        yield folder
    finally:
        if keep:
            (folder / _KEEP).touch()
        else:
            shutil.rmtree(folder)


def give(path: Path) -> None:
    """Make the server's user the owner of a file or folder."""
    user = server_user()
    if user is not None:
        shutil.chown(path, user)


def parent_folder() -> Path:
    """Where the lab's folders go: $TMPDIR, else /var/tmp."""
    return Path(os.environ.get("TMPDIR") or "/var/tmp")  # noqa: S108 - mkdtemp makes a private folder in it


def _our_uids() -> set[int]:
    user = server_user()
    return {os.geteuid()} if user is None else {os.geteuid(), pwd.getpwnam(user).pw_uid}
