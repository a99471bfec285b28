"""The files of one configuration of PostgreSQL: what postgresql.conf includes, and postgresql.auto.conf after it."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

from doctord.errors import UserError
from doctord.read.postgresql.line import Line, parsed
from doctord.read.source import SourceFile, opened
from doctord.regex import regex

MAIN, AUTO, VERSION = "postgresql.conf", "postgresql.auto.conf", "PG_VERSION"
INCLUDES: Final = ("include", "include_if_exists", "include_dir")
DEEPEST: Final = 10  # CONF_FILE_MAX_DEPTH of the server
OF_DEBIAN: Final = regex(r"/postgresql/(\d+(?:\.\d+)?)/")


class Entry(NamedTuple):
    """A setting, and where it stands."""

    name: str
    value: str
    file: str
    line: int


@dataclass
class Configuration:
    """All that a server would read that begins with a file, in its order.

    Attributes:
        source: The file with which it begins; what is wrong anywhere is told to it.
        entries: The settings, and `server_version` where the folders tell it.
        files: The files that were read, by where they really lie.
        modified: When the last of them was written.
    """

    source: SourceFile
    entries: list[Entry] = field(default_factory=list)
    files: set[Path] = field(default_factory=set)
    modified: datetime | None = None

    def last(self, name: str) -> str | None:
        """The value that counts; null where nothing sets it."""
        return next((entry.value for entry in reversed(self.entries) if entry.name == name), None)


def configuration(source: SourceFile) -> Configuration:
    """Read a configuration from the file on with which it begins."""
    found = Configuration(source)
    _take(found, source, ())
    told = found.last("data_directory")
    if source.path and (told or source.path.name == MAIN):
        data = Path(told) if told and _is_here(source) else source.path.parent
        if (data / AUTO).is_file():
            _open(found, source, data / AUTO, 0, ())
        found.entries.extend(_version(source, data))
    return found


def mains_of(source: SourceFile) -> Iterator[Path]:
    """Where the postgresql.conf would lie that includes this file: beside it, or above (conf.d)."""
    if source.path and source.path.name != MAIN:
        for folder in (source.path.parent, source.path.parent / ".."):
            if (folder / MAIN).is_file():
                yield Path(os.path.normpath(folder / MAIN))


def name_of(path: Path, source: SourceFile) -> str:
    """What to call a file beside another, which may have been unpacked from an archive."""
    if source.path is None or _is_here(source):
        return str(path)
    return os.path.normpath(Path(source.name).parent / os.path.relpath(path, source.path.parent))


def _is_here(source: SourceFile) -> bool:
    """Whether it lies where it says, and was not unpacked from an archive of some host."""
    return str(source.path) == source.name


def _take(found: Configuration, source: SourceFile, above: tuple[Path, ...]) -> None:
    """The settings of a file, and of those that it includes, in order."""
    here = (*above, source.path.resolve()) if source.path else above
    found.files.update(here)
    found.modified = max(filter(None, (found.modified, source.modified)), default=None)
    for number, text in source.lines():
        told = parsed(text)
        if isinstance(told, str):
            source.skip(number, told)
        elif told and told.name in INCLUDES:
            _include(found, source, told, number, here)
        elif told:
            found.entries.append(Entry(told.name, told.value, source.name, number))


def _include(found: Configuration, source: SourceFile, told: Line, number: int, above: tuple[Path, ...]) -> None:
    if source.path is None or (Path(told.value).is_absolute() and not _is_here(source)):
        source.skip(number, f"{told.name} '{told.value}': it lies on the host that this is from, and is not read")
        return
    path = source.path.parent / told.value
    if told.name == "include_dir":
        for file in _folder(source, path, number):
            _open(found, source, file, number, above)
    elif path.exists() or told.name == "include":
        _open(found, source, path, number, above)


def _folder(source: SourceFile, path: Path, line: int) -> list[Path]:
    try:
        files = sorted(path.iterdir())
    except OSError as error:
        source.skip(line, f"include_dir {name_of(path, source)}: {error.strerror} (the server does not start with it)")
        return []
    return [file for file in files if file.name.endswith(".conf") and not file.name.startswith(".")]


def _open(found: Configuration, source: SourceFile, path: Path, line: int, above: tuple[Path, ...]) -> None:
    """Take an included file; what is wrong with it is told of the line that includes it."""
    name = name_of(path, source)
    if path.resolve() in above:
        source.skip(line, f"{name} includes itself: the server does not start with it")
    elif len(above) > DEEPEST:
        source.skip(line, f"{name} is included more than {DEEPEST} files deep: the server does not start with it")
    elif not path.is_file() or path.stat().st_size:
        try:
            with opened(path, source.options, name) as inner:
                _take(found, inner, above)
        except UserError as refusal:
            source.skip(line, f"{refusal} (hint: {refusal.hint})")
            return
        if inner is not source:
            source.skipped.extend(inner.skipped)
            source.skipped_lines += inner.skipped_lines


def _version(source: SourceFile, data: Path) -> list[Entry]:
    """The server's version as PG_VERSION has it, or the name of Debian's folder."""
    try:
        told, file = (data / VERSION).read_text(encoding="ascii").strip(), name_of(data / VERSION, source)
    except (OSError, UnicodeDecodeError):
        of_debian = OF_DEBIAN.search(source.name)
        told, file = (of_debian[1], source.name) if of_debian else ("", "")
    return [Entry("server_version", told, file, 1)] if told else []
