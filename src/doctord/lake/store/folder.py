"""A folder as a store: an object is a file that gets its name when all of it is on disk."""

import io
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

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
            unfinished = path.with_name(f"{_UNFINISHED}{os.getpid()}-{path.name}")
            try:
                with unfinished.open("wb") as file:
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
            return path.stat().st_size
        return None

    def listed(self, prefix: str) -> Iterator[Stored]:
        """See `Store`."""
        folder, _, begin = prefix.rpartition("/")
        top = self._path(folder) if folder else self._root
        with self._refused(top):
            files = [path for first in top.glob(f"{begin}*") for path in (first, *first.rglob("*")) if path.is_file()]
        keys = sorted(
            path.relative_to(self._root).as_posix() for path in files if not path.name.startswith(_UNFINISHED)
        )
        for key in keys:
            size = self.size_bytes(key)
            if size is not None:
                yield Stored(key, size)

    def below(self, prefix: str) -> list[str]:
        """See `Store`."""
        with self._refused(self._root):
            folder = self._path(prefix.rstrip("/")) if prefix else self._root
            return sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []

    def opened(self, key: str) -> io.BufferedIOBase:
        """See `Store`."""
        path = self._path(key)
        with self._refused(path):
            return path.open("rb")

    def delete(self, keys: Iterable[str]) -> None:
        """See `Store`."""
        for key in keys:
            path = self._path(key)
            with self._refused(path):
                path.unlink(missing_ok=True)

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
            raise StoreError(
                f"{path}: {error.strerror or error}", "make room, or ask for the right to write there"
            ) from error
