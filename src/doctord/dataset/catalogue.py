"""The settings that a component knows: units, bounds, defaults, and the versions that have them.

`catalogues/COMPONENT.csv` has one line for each: name, kind (bool, int, real, size, time, enum, string), unit of a bare
number, default, least, most, choices (blank-separated), needs (`reload`, `restart`, `session`), since and until
(version with the first that has it, and the first that does not), and a note on what replaced it. Empty: not known.

Where the lists come from, and how they are renewed: `catalogues/__init__.py`.

MySQL and MariaDB share the component `mysql` and many names, but neither versions nor defaults: each has a list of its
own, and where nobody says which of the two it is, what both lists agree on counts.
"""

import csv
import difflib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from importlib.resources import files

Version = tuple[int, ...]

MYSQL, MARIADB, EITHER = "mysql", "mariadb", "mysql or mariadb"
ALIKE = 0.75  # difflib's ratio from which a name counts as a slip of another


@dataclass(frozen=True, slots=True)
class Known:
    """A setting that a component knows; see this module."""

    name: str
    kind: str
    unit: str | None
    default: str | None
    least: float | None
    most: float | None
    choices: tuple[str, ...]
    needs: str | None
    since: Version | None
    until: Version | None
    note: str

    def is_in(self, version: Version | None) -> bool:
        """Whether that version has it; one that is not known may."""
        if version is None:
            return True
        return (self.since is None or version >= self.since) and (self.until is None or version < self.until)


def list_of(component: str, version: str | None) -> str:
    """Name of the list that holds for a component; MariaDB tells itself from MySQL in its version.

    >>> list_of("mysql", "10.11.19-MariaDB"), list_of("mysql", "8.0.36"), list_of("mysql", None)
    ('mariadb', 'mysql', 'mysql or mariadb')
    """
    if component != MYSQL:
        return component
    if version is None:
        return EITHER
    return MARIADB if MARIADB in version.lower() else MYSQL


@lru_cache
def catalogue(component: str) -> dict[str, Known]:
    """What a component (a list: see `list_of`) knows, by name; empty where there is no list."""
    if component == EITHER:
        mine, other = catalogue(MYSQL), catalogue(MARIADB)
        return {**mine, **other, **{name: _agreed(mine[name], other[name]) for name in mine.keys() & other.keys()}}
    listed = files("doctord.dataset.catalogues").joinpath(f"{component}.csv")
    if not listed.is_file():
        return {}
    return {row["name"]: _known(row) for row in csv.DictReader(listed.read_text(encoding="utf-8").splitlines())}


def nearest(listed: Mapping[str, Known], name: str, version: Version | None = None) -> str | None:
    """The known name that a misspelt one is most like; null where none is near."""
    names = [known.name for known in listed.values() if known.is_in(version)]
    return next(iter(difflib.get_close_matches(name, names, 1, ALIKE)), None)


def version_of(text: str) -> Version | None:
    """The numbers at the beginning of a version, null where it has none.

    >>> version_of("15.18 (Debian 15.18-0+deb12u1)"), version_of("10.11.14-MariaDB"), version_of("unknown")
    ((15, 18), (10, 11, 14), None)
    """
    numbers = []
    for part in text.strip().split("."):
        digits = part[: next((i for i, one in enumerate(part) if not one.isdigit()), len(part))]
        if not digits:
            break
        numbers.append(int(digits))
        if digits != part:
            break
    return tuple(numbers) or None


def _agreed(one: Known, other: Known) -> Known:
    """What two lists agree on; where they do not, nothing is known."""
    empty = Known(
        one.name, one.kind if one.kind == other.kind else "", None, None, None, None, (), None, None, None, ""
    )
    names = [field.name for field in fields(Known) if getattr(one, field.name) == getattr(other, field.name)]
    return replace(empty, **{name: getattr(one, name) for name in names})


def _known(row: dict[str, str]) -> Known:
    return Known(
        name=row["name"],
        kind=row["kind"],
        unit=row["unit"] or None,
        default=row["default"] if row["default"] != "" else None,
        least=float(row["least"]) if row["least"] else None,
        most=float(row["most"]) if row["most"] else None,
        choices=tuple(row["choices"].split()),
        needs=row["needs"] or None,
        since=version_of(row["since"]),
        until=version_of(row["until"]),
        note=row["note"],
    )
