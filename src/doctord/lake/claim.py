"""A writer's claim to a lake: the folders are there, and nobody else records into them."""

import fcntl
import logging
import os
from pathlib import Path

from doctord.lake.place import FOLDER_MODE, LakeError, LakePaths, sync_folder

log = logging.getLogger(__name__)


class Claim:
    """The lock of a lake. It goes with the process, however that ends."""

    def __init__(self, place: LakePaths) -> None:
        """Make the lake if need be, and lock it.

        Raises:
            LakeError: The lake cannot be made, or another writer has it.
        """
        self._place = place
        self._lock = _take(place)
        self._told: str | None = None

    def renew(self) -> bool:
        """Take the lake anew where it was removed or moved since; whether it was.

        Raises:
            LakeError: As at first.
        """
        if _is_at(self._lock, self._place):
            _restore_folders(self._place)
            return False
        taken = _take(self._place)
        os.close(self._lock)
        self._lock = taken
        return True

    def look(self) -> None:
        """Say once when the lake may not be written any more, though what is open still can be."""
        shut = [folder for folder in (self._place.open, self._place.sealed) if not os.access(folder, os.W_OK | os.X_OK)]
        told = ", ".join(map(str, shut)) or None
        if told and told != self._told:
            log.error(
                "%s: may not be written any more; recording stops when the next segment is due\n"
                "hint: give the folder back to the user who records, with mode 0750",
                told,
            )
        self._told = told

    def close(self) -> None:
        """Give up the claim: another recorder may write to the lake."""
        os.close(self._lock)


def check_place(path: Path) -> None:
    """Refuse a lake that could not be written, before anybody waits for what is to go there; nothing is left of it.

    Raises:
        LakeError: The lake could not be made, or another writer has it.
    """
    place = LakePaths(path)
    try:
        if place.root.exists():
            Claim(place).close()
            return
        tried = next(folder for folder in place.root.parents if folder.exists()) / f".doctord-{os.getpid()}"
        tried.mkdir()
        tried.rmdir()
    except OSError as error:
        raise _no_lake(place, error) from error


def _is_at(lock: int, place: LakePaths) -> bool:
    try:
        found = place.lock.stat()
    except PermissionError:
        return True  # `look` says so
    except OSError:
        return False
    own = os.fstat(lock)
    return (found.st_dev, found.st_ino) == (own.st_dev, own.st_ino)


def _make_folders(place: LakePaths) -> None:
    for folder in (place.root, place.open, place.sealed):
        if not folder.is_dir():
            folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
            sync_folder(folder.parent)


def _restore_folders(place: LakePaths) -> None:
    try:
        _make_folders(place)
    except PermissionError as error:
        log.debug("%s: %s; `look` says so", place.root, error)
    except OSError as error:
        raise _no_lake(place, error) from error


def _no_lake(place: LakePaths, error: OSError) -> LakeError:
    hint = "name a folder that you may write to with --lake or DOCTORD_LAKE"
    return LakeError(f"{place.root}: no lake to write to: {error.strerror}", hint)


def _take(place: LakePaths) -> int:
    try:
        _make_folders(place)
        lock = os.open(place.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o640)
    except OSError as error:
        raise _no_lake(place, error) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        holder = os.read(lock, 32).decode("ascii", "replace").strip() or "unknown"
        os.close(lock)
        raise LakeError(
            f"{place.root}: another doctord (process {holder}) is recording into this lake",
            "stop it, or record into another folder with --lake",
        ) from error
    try:
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
    except OSError as error:
        log.debug("%s: %s; the lock holds all the same", place.lock, error.strerror)
    return lock
