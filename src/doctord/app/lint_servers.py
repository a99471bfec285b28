"""Configuration files of several servers: files of one name, in different folders, are each of another server.

Joined, the last would count, and `fsync = off` of one server would be hidden by the other's `on`.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Final

import polars as pl

from doctord.app.sources.held import ORACLE
from doctord.app.watcher import SILENT, Watcher
from doctord.dataset.dataset import Dataset
from doctord.read.gather import FileRead

# A server of MySQL or MariaDB reads several files of one name there, one after the other.
READ_TOGETHER: Final = ("/", "etc")


def of_servers(files: Sequence[FileRead], watcher: Watcher = SILENT) -> list[FileRead]:
    """The files, with the folder added to the names of servers (`db`) that stand in several files of one name.

    Which servers were told apart is noted.
    """
    folders = {file.name: folder for file, folder in _folders(files)}
    if folders:
        watcher.note(
            f"settings of {len(set(folders.values()))} servers, by folder: {', '.join(sorted(set(folders.values())))}"
        )
    return [_named(file, _folder(file, folders)) for file in files]


def _folders(files: Sequence[FileRead]) -> Iterator[tuple[FileRead, str]]:
    """The files of which there are several of one name, and what tells their folders apart."""
    alike = dict[tuple[str, str], list[FileRead]]()
    for file in files:
        for db in sorted(_servers(file)):
            alike.setdefault((Path(file.name).name, db), []).append(file)
    for several in alike.values():
        apart = {file.name: Path(file.name).parent.parts for file in several if not _is_read_with_others(file)}
        if len(set(apart.values())) > 1:
            first, last = _common(apart.values()), _common([parts[::-1] for parts in apart.values()])
            for file in (file for file in several if file.name in apart):
                parts = apart[file.name]
                yield file, "/".join(parts[first : max(len(parts) - last, first)]) or "."


def _common(folders: Collection[tuple[str, ...]]) -> int:
    """With how many names all begin."""
    return len(list(takewhile(lambda names: len(set(names)) == 1, zip(*folders, strict=False))))


def _is_read_with_others(file: FileRead) -> bool:
    return Path(file.name).parts[:2] == READ_TOGETHER and any(db.startswith("mysql") for db in _servers(file))


def _folder(file: FileRead, folders: dict[str, str]) -> str | None:
    """What tells the folder of a file; of one that is alone of its name, that of its neighbours."""
    beside = (folder for folder in sorted(set(folders.values())) if folder in Path(file.name).parent.parts)
    return folders.get(file.name) or next(beside, None)


def _servers(file: FileRead) -> set[str]:
    """The servers whose settings it tells without a host, as a report does not, nor a database with its own name."""
    if set(file.tables) != {"setting"}:
        return set()
    rows = Dataset(file.tables).frame("setting").filter(pl.col("host").is_null())
    return {db for db in rows["db"].drop_nulls().unique() if not db.startswith(ORACLE)}


def _named(file: FileRead, folder: str | None) -> FileRead:
    if folder is None or not _servers(file):
        return file
    db = pl.col("db")
    named = pl.when(db.str.contains(":", literal=True)).then(db + f" in {folder}").otherwise(db + f":{folder}")
    rows = Dataset(file.tables).frame("setting")
    rows = rows.with_columns(pl.when(pl.col("host").is_null() & db.is_not_null()).then(named).otherwise(db).alias("db"))
    return replace(file, tables={**file.tables, "setting": rows.to_arrow()})
