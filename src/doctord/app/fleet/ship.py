"""Send what was recorded to a store: each segment once, when it is sealed."""

import hashlib
import io
import json
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from doctord.app.watcher import SILENT, Watcher
from doctord.errors import UserError
from doctord.lake.place import FOLDER_MODE, LakeError, LakePaths, is_lake
from doctord.lake.store.bundle import is_host_name, key_of, pack, sealed_segments
from doctord.lake.store.store import Store, StoreError

_BESIDE: Final = "shipped"  # a folder in the lake: what went where
_CHUNK_BYTES: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Shipment:
    """What was sent.

    Attributes:
        place: Where to.
        host: Under whose name.
        sent: The segments that were sent now.
        sent_bytes: How much that is.
        there: How many were there already.
        waiting: Those that could not be sent, each with the reason: the next run tries again.
        lost: Those that waited, and are not whole in the lake any more: retention was quicker.
    """

    place: str
    host: str
    sent: tuple[str, ...]
    sent_bytes: int
    there: int
    waiting: tuple[tuple[str, str], ...]
    lost: tuple[str, ...]

    @property
    def healthy(self) -> bool | None:
        """Whether all is there that could be; null where something waits."""
        return None if self.waiting else True


def ship(
    lake: Path, store: Store, host: str | None = None, most_bytes_per_s: int | None = None, watcher: Watcher = SILENT
) -> Shipment:
    """Send each sealed segment of a lake that was not sent yet. What was sent stands in the lake's folder `shipped`.

    A segment is sent as one object that must not be there yet, so that to send it twice does no harm; that it is there
    then is looked for, since a store may say so of what it has not. The first one that is refused ends the run.

    Args:
        lake: The lake; a recorder may be writing it.
        store: Where to.
        host: Under whose name; null: this host's.
        most_bytes_per_s: How fast at most.
        watcher: Who is told how it goes on.

    Raises:
        UserError: there is no lake, the name cannot stand in a key, or it cannot be written down what was sent.
    """
    host = host or os.uname().nodename
    if not is_host_name(host):
        raise UserError(f"{host!r} cannot be a host's name in a store", "letters, digits, dots and dashes")
    if not is_lake(lake):
        raise LakeError(f"{lake}: no lake here", "record one with `doctord record`, or name another")
    place = LakePaths(lake)
    known = _Known(place, store.address)
    segments = sealed_segments(place)
    there_now = {name: _tables(files) for name, files in segments.items()}
    lost = sorted(name for name, tables in known.waiting.items() if tables - there_now.get(name, set()))
    new = {name: files for name, files in segments.items() if name not in known.sent}
    sent, waiting, sent_bytes, there = list[str](), list[tuple[str, str]](), 0, 0
    with watcher.progress("Sending", len(new), "files") as progress:
        for name, files in new.items():
            try:
                size = _send(store, host, name, files, most_bytes_per_s)
            except _NotThereError as refused:
                waiting.append((name, f"{refused}; it is sent again"))
                continue
            except StoreError as refused:
                reason = f"{refused}; {refused.hint}"
                told = {one for one, _ in waiting}
                waiting += [(one, reason) for one in new if one not in known.sent and one not in told]
                break
            except OSError as error:
                waiting.append((name, f"{error.filename or lake}: {error.strerror or error}"))
                continue
            sent.append(name)
            sent_bytes, there = sent_bytes + (size or 0), there + (size is None)
            known.sent.add(name)
            known.keep({one: there_now[one] for one in new if one not in known.sent})
            progress(len(sent), name)
    known.sent &= segments.keys()
    known.keep({name: there_now[name] for name, _ in waiting})
    return Shipment(store.address, host, tuple(sent), sent_bytes, there, tuple(waiting), tuple(lost))


def _send(store: Store, host: str, name: str, files: list[Path], most_bytes_per_s: int | None) -> int | None:
    """Send one segment; how many bytes that was, null where it was there already.

    Raises:
        StoreError: the store refuses, or has not got what it took.
    """
    key = key_of(host, name)
    with tempfile.TemporaryFile() as file:
        size = pack(host, name, files, file)
        is_new = store.put_new(key, _Slowed(file, most_bytes_per_s) if most_bytes_per_s else file)
    if not is_new:
        return None
    if store.size_bytes(key) != size:
        raise _NotThereError(f"{store.address}/{key}: the store took it, and has not got it")
    return size


class _NotThereError(StoreError):
    """A store says that it took an object, and has not got it."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "it is sent again")


def _tables(files: Sequence[Path]) -> set[str]:
    return {path.parts[-3] for path in files}


class _Known:
    """What stands in the lake of what was sent to one store, and what waited."""

    def __init__(self, place: LakePaths, address: str) -> None:
        mark = hashlib.blake2s(address.encode(), digest_size=8).hexdigest()
        self._path, self._address = place.root / _BESIDE / f"{mark}.json", address
        told = self._told()
        self.sent = set(_names(told.get("sent")))
        waiting = told.get("waiting")
        self.waiting = {
            str(name): set(_names(tables))
            for name, tables in (waiting.items() if isinstance(waiting, dict) else ())
            if name not in self.sent
        }

    def _told(self) -> dict[str, object]:
        """What was written down; nothing where that is gone or damaged: what is there is found again."""
        try:
            told = json.loads(self._path.read_text())
        except (OSError, ValueError):
            return {}
        return told if isinstance(told, dict) else {}

    def keep(self, waiting: Mapping[str, set[str]]) -> None:
        """Write it down, with the tables of what waits.

        Raises:
            LakeError: that fails.
        """
        told = {
            "place": self._address,
            "sent": sorted(self.sent),
            "waiting": {name: sorted(tables) for name, tables in waiting.items()},
        }
        unfinished = self._path.with_suffix(f".{os.getpid()}")
        try:
            self._path.parent.mkdir(mode=FOLDER_MODE, exist_ok=True)
            unfinished.write_text(json.dumps(told))
            unfinished.rename(self._path)
        except OSError as error:
            raise LakeError(
                f"{self._path}: {error.strerror}", "send as the user who records, who may write there"
            ) from error


def _names(told: object) -> Iterator[str]:
    yield from (one for one in told if isinstance(one, str)) if isinstance(told, list) else ()


class _Slowed(io.BufferedIOBase):
    """A file that is read no faster than so many bytes a second."""

    def __init__(self, file: io.BufferedIOBase, most_bytes_per_s: int) -> None:
        self._file, self._most = file, most_bytes_per_s
        self._began_s, self._taken = time.monotonic(), 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        """At most so many bytes; where none is said, all that is left."""
        if size is None or size < 0:
            return b"".join(iter(lambda: self.read(_CHUNK_BYTES), b""))
        chunk = self._file.read(min(size, _CHUNK_BYTES))
        self._taken += len(chunk)
        time.sleep(max(self._taken / self._most - (time.monotonic() - self._began_s), 0.0))
        return chunk

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()
