"""A folder as a store: an object is a file that gets its name when all of it is on disk. Links are followed nowhere."""

import io
import os
import shutil
import stat
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NoReturn

from doctord.lake.place import FOLDER_MODE, sync_folder
from doctord.lake.store.store import Stored, StoreError

_UNFINISHED: Final = ".unfinished-"


class Folder:
    """Objects below a folder."""

    def __init__(self, root: Path) -> None:
        """Of this folder; it is made when something is put there."""
        self._root = root
        self.address = str(root)

    def put_new(self, key: str, content: io.BufferedIOBase) -> bool:
        """See `Store`."""
        path = self._path(key)
        with self._refused(path):
            path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
            # Not by a process's number: containers that share a folder may have the same.
            unfinished = path.with_name(f"{_UNFINISHED}{uuid.uuid4().hex}")
            try:
                with unfinished.open("xb") as file:
                    shutil.copyfileobj(content, file)
                    file.flush()
                    os.fsync(file.fileno())
                path.hardlink_to(unfinished)
            except FileExistsError:
                return False
            finally:
                unfinished.unlink(missing_ok=True)
            sync_folder(path.parent)
        return True

    def size_bytes(self, key: str) -> int | None:
        """See `Store`."""
        path = self._path(key)
        with self._refused(path), suppress(FileNotFoundError):
            told = path.lstat()
            return told.st_size if stat.S_ISREG(told.st_mode) else None
        return None

    def listed(self, prefix: str) -> Iterator[Stored]:
        """See `Store`."""
        folder, _, begin = prefix.rpartition("/")
        top = self._path(folder) if folder else self._root
        keys = list[str]()
        with self._refused(top), suppress(FileNotFoundError):
            for place, folders, files in os.walk(top, onerror=_raise):
                if Path(place) == top:
                    folders[:] = [name for name in folders if name.startswith(begin)]
                    files = [name for name in files if name.startswith(begin)]  # noqa: PLW2901 - those of the prefix
                below = Path(place).relative_to(self._root)
                keys += [(below / name).as_posix() for name in files if not name.startswith(_UNFINISHED)]
        for key in sorted(keys):
            size = self.size_bytes(key)
            if size is not None:
                yield Stored(key, size)

    def below(self, prefix: str) -> list[str]:
        """See `Store`."""
        folder = self._path(prefix.rstrip("/")) if prefix else self._root
        with self._refused(folder), suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
        return []

    def opened(self, key: str) -> io.BufferedIOBase:
        """See `Store`."""
        path = self._path(key)
        with self._refused(path):
            return io.BufferedReader(io.FileIO(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)))

    def delete(self, keys: Iterable[str]) -> None:
        """See `Store`; a folder in which nothing is left goes too."""
        for key in keys:
            path = self._path(key)
            with self._refused(path):
                path.unlink(missing_ok=True)
            for folder in list(path.parents)[: len(key.split("/")) - 1]:
                with suppress(OSError):
                    folder.rmdir()

    def _path(self, key: str) -> Path:
        parts = key.split("/")
        if any(part in {"", ".", ".."} for part in parts):
            raise StoreError(f"{self.address}: {key!r} is no key", "parts of a key are names, with / between them")
        return self._root.joinpath(*parts)

    @contextmanager
    def _refused(self, path: Path) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            raise
        except OSError as error:
            told = f"{path}: {error.strerror or error}"
            raise StoreError(told, "make room, or ask for the right to read and write there") from error


def _raise(error: OSError) -> NoReturn:
    raise error
