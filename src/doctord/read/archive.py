"""Files in folders and in archives (zip, tar, compressed or not, one inside another), each as a file of its own."""

import os
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO, NamedTuple

from doctord.errors import UserError
from doctord.read.prometheus import api as prometheus_api
from doctord.read.source import BOMB_BYTES, BOMB_RATIO, STANDARD_INPUT, refuse_pipe
from doctord.read.unpack import UNPACK_ERRORS, is_compressed, unpacked

ZIP_MAGIC = (b"PK\3\4", b"PK\5\6")
TAR_MAGIC, TAR_MAGIC_AT = b"ustar", 257
MOST_MEMBERS = 100_000
DEEPEST = 4  # archives inside archives
COPY_BYTES = 1 << 20
# RuntimeError: it is encrypted; ValueError: a date that cannot be one.
ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, RuntimeError, ValueError, *UNPACK_ERRORS)


class Piece(NamedTuple):
    """One file to be read: where it lies, and what the user calls it."""

    path: Path
    name: str


class Unread(NamedTuple):
    """A file, or a part of an archive, that could not even be opened, and why."""

    name: str
    reason: str


@dataclass
class Found:
    """What lies at some paths: files to be read, and what could not be opened."""

    pieces: list[Piece] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)


@contextmanager
def found(paths: Iterable[Path]) -> Iterator[Found]:
    """The files at these paths, with those in folders below and in archives; archives are unpacked for the while.

    A path that is an address (`http://host:9090`) is what the Prometheus server there answers.

    Raises:
        UserError: one of the paths is not there, or cannot be looked into.
    """
    with TemporaryDirectory(prefix="doctord-", ignore_cleanup_errors=True) as scratch:
        unpacker = _Unpacker(Path(scratch))
        for path in paths:
            if address := prometheus_api.address_in(path):
                unpacker.fetch(address)
                continue
            for piece in _below(path):
                unpacker.take(piece, 0)
        yield unpacker.found


def _below(path: Path) -> Iterator[Piece]:
    if path == STANDARD_INPUT:
        yield Piece(path, "standard input")
        return
    try:
        is_folder = path.is_dir()
        if not is_folder:
            path.stat()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", "name files, folders or archives that are there") from error
    if not is_folder:
        refuse_pipe(path)
        yield Piece(path, str(path))
        return
    for folder, folders, names in os.walk(path, onerror=_refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            file = Path(folder, name)
            if file.is_file():
                yield Piece(file, str(file))


def _refuse(error: OSError) -> None:
    raise UserError(f"{error.filename}: {error.strerror}", "name a folder that you may read") from error


class _Unpacker:
    def __init__(self, scratch: Path) -> None:
        self.found = Found()
        self._scratch = scratch
        self._archives = 0
        self._members = 0

    def fetch(self, address: str) -> None:
        """What a server answers, as a file."""
        self._archives += 1
        file = self._scratch / str(self._archives)
        prometheus_api.fetch(address, file)
        self.found.pieces.append(Piece(file, prometheus_api.shown(address)))

    def take(self, piece: Piece, depth: int) -> None:
        """A file as it is, or the files in it where it is an archive."""
        kind = _kind(piece.path)
        if kind is None:
            self.found.pieces.append(piece)
        elif depth == DEEPEST:
            self._refuse(piece.name, f"more than {DEEPEST} archives one inside another")
        else:
            self._archives += 1
            folder = self._scratch / str(self._archives)
            members = self._zipped(piece) if kind == "zip" else self._tarred(piece)
            for name, stream, moment in members:
                if copy := self._copied(stream, folder / _inside(name), piece, name, moment):
                    self.take(copy, depth + 1)

    def _zipped(self, piece: Piece) -> Iterator[tuple[str, IO[bytes], datetime | None]]:
        try:
            with zipfile.ZipFile(piece.path) as archive:
                for member in archive.infolist():
                    if member.is_dir() or self._are_too_many(piece):
                        continue
                    try:
                        with archive.open(member) as stream:
                            yield member.filename, stream, datetime(*member.date_time, tzinfo=UTC)
                    except ZIP_ERRORS as error:
                        self._refuse(f"{piece.name}/{member.filename}", f"cannot be unpacked: {error}")
        except ZIP_ERRORS as error:
            self._refuse(piece.name, f"the archive is damaged: {error}")

    def _tarred(self, piece: Piece) -> Iterator[tuple[str, IO[bytes], datetime | None]]:
        try:
            with piece.path.open("rb") as raw, tarfile.open(fileobj=unpacked(raw), mode="r|") as archive:
                for member in archive:
                    if not member.isreg() or self._are_too_many(piece):
                        continue
                    if stream := archive.extractfile(member):
                        yield member.name, stream, datetime.fromtimestamp(member.mtime, UTC)
        except (tarfile.TarError, OverflowError, ValueError, *UNPACK_ERRORS) as error:
            self._refuse(piece.name, f"the archive is damaged, the rest of it is left: {error}")

    def _copied(
        self, stream: IO[bytes], path: Path, archive: Piece, name: str, moment: datetime | None
    ) -> Piece | None:
        """A member as a file; null where it is damaged, or grows as nothing honest does."""
        most = max(BOMB_BYTES, BOMB_RATIO * archive.path.stat().st_size)
        shown, size = f"{archive.name}/{name}", 0
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as copy:
                while data := stream.read(COPY_BYTES):
                    size += len(data)
                    if size > most or size > shutil.disk_usage(self._scratch).free // 2:
                        self._refuse(shown, "unpacks to more than can be believed, or kept")
                        path.unlink()
                        return None
                    copy.write(data)
        except (*ZIP_ERRORS, tarfile.TarError) as error:
            self._refuse(shown, f"cannot be unpacked: {error}")
            return None
        if moment:
            os.utime(path, (moment.timestamp(), moment.timestamp()))
        return Piece(path, shown)

    def _are_too_many(self, piece: Piece) -> bool:
        self._members += 1
        if self._members == MOST_MEMBERS + 1:
            self._refuse(piece.name, f"more than {MOST_MEMBERS} files: the rest is left")
        return self._members > MOST_MEMBERS

    def _refuse(self, name: str, reason: str) -> None:
        self.found.unread.append(Unread(name, reason))


def _inside(name: str) -> PurePosixPath:
    """A member's name as a path that cannot lead elsewhere."""
    parts = [part for part in name.replace("\\", "/").replace("\0", "").split("/") if part not in {"", ".", ".."}]
    return PurePosixPath(*(part[-200:] for part in parts[-20:] or ["nameless"]))


def _kind(path: Path) -> str | None:
    """`zip` or `tar`, by its content; null for any other file."""
    if path == STANDARD_INPUT:
        return None
    try:
        with path.open("rb") as raw:
            head = raw.read(512)
            if head.startswith(ZIP_MAGIC):
                return "zip"
            if is_compressed(head):
                raw.seek(0)
                head = unpacked(raw).read(512)
    except UNPACK_ERRORS:
        return None  # whoever reads it says what is wrong
    return "tar" if head[TAR_MAGIC_AT:].startswith(TAR_MAGIC) else None
