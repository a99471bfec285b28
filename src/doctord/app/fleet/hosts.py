"""The hosts of a fleet, and what is said of them: of a folder of lakes, or of a store that they are shipped to."""

import csv
import tempfile
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from doctord.app.watcher import Watcher
from doctord.errors import UserError
from doctord.lake.place import is_lake
from doctord.lake.store.shipped import Shipped, hosts_in
from doctord.lake.store.store import Store, is_address, is_store, store_at
from doctord.regex import regex

# PLACE/HOST or PLACE/SITE/HOST: who looks for lakes everywhere reads a whole disk.
DEEPEST: Final = 2
LABELS: Final = ("labels.toml", "labels.csv")
ROLE: Final = "role"
_NO_HOST: Final = regex(r"\.|lost\+found$")  # what file systems and tools keep there


@dataclass(frozen=True, slots=True)
class Host:
    """A host of a fleet.

    Attributes:
        name: Of the folder of its lake, with the folder above it where two have that name; or under which it ships.
        lake: The folder of its lake, or the address of the store.
        is_shipped: Whether it is the latter.
        labels: What is said of it: site, role, array, by the label's name.
    """

    name: str
    lake: str
    is_shipped: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)

    @contextmanager
    def opened(self) -> Iterator[Path | Shipped]:
        """Its lake; what is fetched of it from a store is removed in the end.

        Raises:
            StoreError: the store cannot be reached, later on too.
        """
        if not self.is_shipped:
            yield Path(self.lake)
            return
        with tempfile.TemporaryDirectory(prefix="doctord-fleet-") as folder:
            yield Shipped(store_at(self.lake), self.name, Path(folder))


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which hosts of a fleet count.

    Attributes:
        names: Patterns of their names, as a shell has them (`db-*`); none: all.
        labels: Labels with the value that they must have.
    """

    names: Sequence[str] = ()
    labels: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def asked(cls, names: Sequence[str], labels: Sequence[str]) -> "Chosen":
        """Of patterns, and of labels as somebody writes them: `role=oltp`.

        Raises:
            UserError: a label is not of that form.
        """
        pairs = [text.partition("=") for text in labels]
        for text, (name, _, value) in zip(labels, pairs, strict=True):
            if not name or not value:
                raise UserError(f"{text!r} is no label with its value", "--label role=oltp")
        return cls(names, {name.strip(): value.strip() for name, _, value in pairs})

    def holds(self, host: Host) -> bool:
        """Whether a host is among them."""
        return (not self.names or any(fnmatchcase(host.name.lower(), name.lower()) for name in self.names)) and all(
            host.labels.get(name) == value for name, value in self.labels.items()
        )


def hosts_of(place: str, chosen: Chosen, labels: Path | None, watcher: Watcher) -> list[Host]:
    """The hosts of a fleet that count, by name.

    Args:
        place: A folder of lakes, `PLACE/HOST` or `PLACE/SITE/HOST`, or what hosts are shipped to: a folder, or the
            address of a store.
        chosen: Which of them.
        labels: File of labels; null: `labels.toml` or `labels.csv` in the place, where there is one.
        watcher: Who is told of a folder that may not be read.

    Raises:
        UserError: there is no such place, no host in it or none that counts, or the labels cannot be read.
    """
    store = _store(place)
    said = labels_in(labels or _beside(place))
    if store:
        hosts = [Host(name, place, is_shipped=True, labels=_of(name, said)) for name in hosts_in(store)]
    else:
        hosts = [
            Host(name, str(lake), labels=_of(name, said)) for name, lake in _named(_lakes_of(Path(place), watcher))
        ]
    if not hosts:
        raise UserError(f"{place}: no host is in it", "ship to it: doctord ship --to PLACE, on each host")
    found = sorted((host for host in hosts if chosen.holds(host)), key=lambda host: (host.name, host.lake))
    if not found:
        some = ", ".join(sorted(host.name for host in hosts)[:5])
        raise UserError(f"none of the {len(hosts)} hosts is asked for", f"there are {some}; see --host and --label")
    return found


def _store(place: str) -> Store | None:
    """The store of a place; null where it is a folder of lakes."""
    return store_at(place) if is_address(place) or is_store(Path(place)) else None


def _beside(place: str) -> Path | None:
    """The labels that lie in a place; none do in a store that is no folder."""
    if is_address(place):
        return None
    return next((Path(place) / name for name in LABELS if (Path(place) / name).is_file()), None)


def _lakes_of(place: Path, watcher: Watcher) -> list[Path]:
    if not place.is_dir():
        raise UserError(f"{place}: no such folder", "name a folder that holds a lake for each host")
    lakes = [place] if is_lake(place) else list(_lakes(place, 1, watcher))
    if not lakes:
        raise UserError(
            f"{place}: no lake is in it",
            "record into a folder for each host: doctord record --lake PLACE/HOST; or copy their lakes there",
        )
    return lakes


def _named(lakes: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    """Each lake with the name of its folder, and of the one above where two sites have a host of that name."""
    names = [lake.resolve().name for lake in lakes]
    for name, lake in zip(names, lakes, strict=True):
        yield (name if names.count(name) == 1 else f"{lake.resolve().parent.name}/{name}"), lake


def _lakes(folder: Path, depth: int, watcher: Watcher) -> Iterator[Path]:
    try:
        below = sorted(path for path in folder.iterdir() if path.is_dir() and not _NO_HOST.match(path.name))
    except OSError as error:
        watcher.note(f"{folder}: {error.strerror}; skipped")
        return
    for path in below:
        if is_lake(path) or not _can_be_seen(path):
            yield path  # what cannot be seen is a host on which there is no verdict
        elif depth < DEEPEST:
            yield from _lakes(path, depth + 1, watcher)


def _can_be_seen(folder: Path) -> bool:
    try:
        next(folder.iterdir(), None)
    except OSError:
        return False
    return True


def labels_in(path: Path | None) -> list[tuple[str, dict[str, str]]]:
    """Patterns of hosts' names, each with the labels of those; of several that fit, the later one holds.

    A TOML file has a table for each pattern (`["db-fra-*"]`, `site = "fra"`), a CSV file a column `host` of patterns,
    and a column for each label. Null is no file.

    Raises:
        UserError: it cannot be read, or is of another form.
    """
    if path is None:
        return []
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: {error}", "name a TOML or CSV file of labels") from error
    return _of_toml(path, text) if path.suffix.lower() == ".toml" else _of_csv(path, text)


def _of_toml(path: Path, text: str) -> list[tuple[str, dict[str, str]]]:
    try:
        tables: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path}: {error}", '["db-*"] on a line, and below it: role = "oltp"') from error
    for pattern, told in tables.items():
        if not isinstance(told, dict):
            raise UserError(f"{path}: {pattern} is no table", f'["{pattern}"] on a line, and below it: role = "oltp"')
        for name, value in told.items():
            if not isinstance(value, str | int):
                raise UserError(f"{path}: {name} of {pattern} is no text", f'{name} = "..."')
    return [(pattern, {name: str(value) for name, value in told.items()}) for pattern, told in tables.items()]


def _of_csv(path: Path, text: str) -> list[tuple[str, dict[str, str]]]:
    rows = csv.DictReader(text.splitlines())
    names = [name.strip() for name in rows.fieldnames or ()]
    if "host" not in names:
        raise UserError(f"{path}:1: there is no column host", "host,site,role on the first line")
    if twice := _twice(names):
        raise UserError(f"{path}:1: there are two columns {twice}", "name each label once")
    rows.fieldnames = names
    found = list[tuple[str, dict[str, str]]]()
    for row in rows:
        if None in row:
            raise UserError(f"{path}:{rows.line_num}: more cells than columns", "put a text with commas in quotes")
        told = {name: value.strip() for name, value in row.items() if value and value.strip()}
        if "host" in told:
            found.append((told.pop("host"), told))
    return found


def _twice(names: Collection[str]) -> str | None:
    seen = set[str]()
    return next((name for name in names if name in seen or seen.add(name)), None)  # type: ignore[func-returns-value]


def _of(name: str, said: Sequence[tuple[str, Mapping[str, str]]]) -> dict[str, str]:
    found = dict[str, str]()
    for pattern, labels in said:
        if fnmatchcase(name.lower(), pattern.lower()):
            found.update(labels)
    return found
