"""What one segment of a recorder became, as one object of a store: a zip archive of its Parquet files, one a table.

```
incoming/db-1/2026-11-28/20261128T100000Z-1f2e3d4c.zip
    manifest.json      whose it is, of which form, by which doctord
    cpu.parquet        as it lies in the lake, checksums and all
```
A segment is an hour, or less after a restart or where an hour is more than 64 MiB. Nothing in the archive is compressed
once more, so that one table is read without the others.
"""

import io
import json
import shutil
import zipfile
import zlib
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import IO, Final

from doctord.dataset.tables import TABLES
from doctord.lake.place import FOLDER_MODE, LakePaths, begun
from doctord.lake.store.store import Store
from doctord.regex import regex

INCOMING: Final = "incoming"
FORM: Final = 1
_MANIFEST: Final = "manifest.json"
_KEY: Final = regex(rf"{INCOMING}/(?P<host>[^/]+)/(?P<day>[0-9-]{{10}})/(?P<name>[^/]+)\.zip")
_HOST: Final = regex(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,252}")
_MOST_MANIFEST_BYTES: Final = 1 << 16
_ENCRYPTED: Final = 1  # of the flags of a member
# What the reader of an archive raises of one that is damaged, or made to look so.
DAMAGE: Final = (
    zipfile.BadZipFile, zlib.error, KeyError, ValueError, EOFError, NotImplementedError, RuntimeError, RecursionError,
    OverflowError,
)  # fmt: skip
_LONG_AGO: Final = (1980, 1, 1, 0, 0, 0)  # an archive of the same files is the same, whenever it is made


class NotABundle(Exception):  # noqa: N818 - it is told as a problem, and raised to nobody who asked
    """An object is not what its key says."""


class Later(NotABundle):
    """An object has what this Doctor D does not know, and a later one does."""


def is_host_name(name: str) -> bool:
    """Whether a name can stand in a key."""
    return _HOST.fullmatch(name) is not None


def is_same_host(one: str, other: str) -> bool:
    """Whether two names are of one host: one of them may be without its domain.

    >>> is_same_host("db-1", "DB-1.example.com"), is_same_host("db-1.fra.example.com", "db-1.ams.example.com")
    (True, False)
    """
    names = one.lower(), other.lower()
    return names[0] == names[1] or (
        any("." not in name for name in names) and len({name.partition(".")[0] for name in names}) == 1
    )


def key_of(host: str, name: str) -> str:
    """The key of what a segment of this name became."""
    moment = begun(name)
    if moment is None:
        raise ValueError(f"{name} is not named like a segment")
    return f"{INCOMING}/{host}/{moment.date().isoformat()}/{name}.zip"


def named(key: str) -> tuple[str, date, str] | None:
    """Host, day and segment of a key; null where it is none of a bundle."""
    match = _KEY.fullmatch(key)
    moment = begun(match["name"]) if match else None
    if match is None or moment is None or moment.date().isoformat() != match["day"] or not is_host_name(match["host"]):
        return None
    return match["host"], moment.date(), match["name"]


def sealed_segments(place: LakePaths) -> dict[str, list[Path]]:
    """The files of each segment that is sealed into Parquet, by its name, oldest first."""
    found = dict[str, list[Path]]()
    for path in place.parquet():
        if begun(path.stem) is not None:
            found.setdefault(path.stem, []).append(path)
    # Listed after the files: one that is still being sealed has its segment yet, and has not all of its files.
    still_open = {path.stem for path in place.segments()}
    return {name: files for name, files in sorted(found.items()) if name not in still_open}


def pack(host: str, name: str, files: Sequence[Path], into: IO[bytes]) -> int:
    """Write the archive of a segment's files, and go back to its begin; how many bytes it is.

    Raises:
        OSError: one of them cannot be read, or nothing be written.
    """
    tables = {path.parts[-3]: path for path in files}
    manifest = {"form": FORM, "host": host, "segment": name, "doctord": version("doctord"), "tables": sorted(tables)}
    with zipfile.ZipFile(into, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(_MANIFEST, _LONG_AGO), json.dumps(manifest, sort_keys=True))
        for table, path in sorted(tables.items()):
            with path.open("rb") as file, archive.open(zipfile.ZipInfo(f"{table}.parquet", _LONG_AGO), "w") as member:
                shutil.copyfileobj(file, member)
    size_bytes = into.seek(0, io.SEEK_END)
    into.seek(0)
    return size_bytes


class Bundle:
    """An archive in a store, of which what is wanted is read."""

    def __init__(self, store: Store, key: str) -> None:
        """Look into it.

        Raises:
            NotABundle: it is not what its key says, or of a later form.
            FileNotFoundError: it is gone.
            StoreError: the store refuses.
        """
        told = named(key)
        if told is None:
            raise NotABundle("not named like a bundle")
        self.host, self.day, self.name = told
        with ExitStack() as opened:
            file = opened.enter_context(store.opened(key))
            try:
                self._archive = opened.enter_context(zipfile.ZipFile(file))
                manifest = json.loads(self._read_manifest())
            except DAMAGE as error:
                raise NotABundle(f"damaged: {error}") from error
            self._check(manifest)
            self._opened = opened.pop_all()

    def _read_manifest(self) -> bytes:
        info = self._archive.getinfo(_MANIFEST)
        if info.compress_type != zipfile.ZIP_STORED or info.file_size > _MOST_MANIFEST_BYTES:
            raise NotABundle("its manifest is packed, or too large")
        return self._archive.read(info)

    def _check(self, manifest: object) -> None:
        if not isinstance(manifest, Mapping):
            raise NotABundle("damaged: its manifest is none")
        form = manifest.get("form")
        if form != FORM:
            told = f"of form {form}, and {FORM} is known"
            raise Later(told) if isinstance(form, int) and form > FORM else NotABundle(told)
        if (manifest.get("host"), manifest.get("segment")) != (self.host, self.name):
            raise NotABundle(f"it says that it is {manifest.get('segment')} of {manifest.get('host')}")
        members = [info for info in self._archive.infolist() if info.filename != _MANIFEST]
        if any(info.compress_type != zipfile.ZIP_STORED or info.flag_bits & _ENCRYPTED for info in members):
            raise NotABundle("what is in it is packed once more, or encrypted")
        names = [info.filename.removesuffix(".parquet") for info in members]
        if len(set(names)) < len(names):
            raise NotABundle("a table is in it twice")
        self.tables = sorted(name for name in names if name in TABLES)
        """The tables that are in it, of those that this Doctor D knows."""
        self.unknown = sorted(set(names) - set(TABLES))
        """What else is in it: of a later Doctor D."""

    def unpack(self, lake: LakePaths, tables: Collection[str]) -> None:
        """Put some tables of it into a lake, where they are not yet; an OSError where that fails.

        Raises:
            NotABundle: a part of it is damaged; what is whole stays.
        """
        for table in self.tables:
            target = lake.sealed / table / self.day.isoformat() / f"{self.name}.parquet"
            if table not in tables or target.exists():
                continue
            target.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
            unfinished = target.with_suffix(".unfinished")
            try:
                with self._archive.open(f"{table}.parquet") as member, unfinished.open("wb") as file:
                    shutil.copyfileobj(member, file)
            except DAMAGE as error:
                unfinished.unlink(missing_ok=True)
                raise NotABundle(f"damaged: {table}: {error}") from error
            unfinished.rename(target)

    def close(self) -> None:
        """Let go of it."""
        self._opened.close()
