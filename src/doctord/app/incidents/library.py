"""Incidents that somebody keeps: a folder with one JSON file each, which can be copied, sent and read.

Nothing of a server is in it but how its figures stood against its own usual ones, its host's name, and when that was.
"""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from doctord.analyse.incidents.likeness import ALIKE, likeness
from doctord.analyse.incidents.signature import Change, Signature
from doctord.app.watcher import SILENT, Watcher
from doctord.errors import UserError
from doctord.lake.place import default_lake
from doctord.regex import regex

SCHEMA_VERSION: Final = 1
FOLDER: Final = "incidents"
LARGEST_FILE: Final = 64 * 1024 * 1024
MOST_FIGURES: Final = 10_000
_NAME: Final = regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_UNFIT: Final = regex(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Incident:
    """One incident.

    Attributes:
        name: Its own, of letters, digits and `._-`.
        cause: What it was, in whatever words; best a name of `docs/reference/causes.md`.
        note: What somebody wrote of it; may be empty.
        host: Where it was; empty where that is not known.
        since, until: When, UTC.
        added: When it was put into the library, UTC.
        version: Of the Doctor D that made the signature.
        signature: How its figures stood against the usual ones.
    """

    name: str
    cause: str
    note: str
    host: str
    since: datetime
    until: datetime
    added: datetime
    version: str
    signature: Signature


def place_of(lake: Path | None, library: Path | None) -> Path:
    """Where the library is: where it is said to be, else in the lake, else in the usual lake."""
    return library or (lake or default_lake()) / FOLDER


def named(cause: str, since: datetime, name: str | None) -> tuple[str, str]:
    """Name and cause of a new incident; the name is made of cause and time, where none is given.

    Raises:
        UserError: the cause is empty, or the name is none.
    """
    told = cause.strip()
    if not told:
        raise UserError("an incident without a cause", "name what it was: --cause row_locks")
    made = f"{_UNFIT.sub('-', told).strip('-._') or 'incident'}-{since.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    return checked_name(name or made[-100:]), told


def checked_name(name: str) -> str:
    """The name of an incident, which is that of a file too.

    Raises:
        UserError: it is none.
    """
    if not _NAME.fullmatch(name):
        raise UserError(f"{name!r} is no name of an incident", "up to 100 letters, digits, dots, - and _")
    return name


def incidents_in(library: Path, watcher: Watcher = SILENT) -> list[Incident]:
    """All incidents of a library in the order of their time; none where there is no library.

    A file that is none is left out, and the watcher is told why.

    Raises:
        UserError: the folder may not be read.
    """
    try:
        files = sorted(path for path in library.iterdir() if path.suffix == ".json")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UserError(f"{library}: {error.strerror}", "name the folder of a library that you may read") from error
    found = list[Incident]()
    for path in files:
        try:
            [incident] = _read(path)
            found.append(incident)
        except UserError as error:
            watcher.note(f"{error}; left out")
        except ValueError:
            watcher.note(f"{path}: holds several incidents; left out: doctord incident import {path}")
    return sorted(found, key=lambda one: (one.since, one.name))


def keep(library: Path, incidents: Iterable[Incident], watcher: Watcher = SILENT, *, replace: bool = False) -> int:
    """Put incidents into a library, which is made where it is not there; how many are new or changed.

    The watcher is told of those that are alike and have another cause: who is asked later cannot tell them apart.

    Raises:
        UserError: another one of that name is there and none is to be replaced; or the folder cannot be written.
    """
    there = {one.name: one for one in incidents_in(library, watcher)}
    new = [one for one in incidents if there.get(one.name) != one]
    if (taken := [one.name for one in new if one.name in there]) and not replace:
        raise UserError(
            f"{library} has another incident {taken[0]}" + (f", and {len(taken) - 1} more" if len(taken) > 1 else ""),
            "give it another --name, or --replace it",
        )
    for one in new:
        for like in _contradictions(one, [*there.values()]):
            watcher.note(like)
        _write(library / f"{one.name}.json", _document(one))
        there[one.name] = one
    return len(new)


def removed(library: Path, name: str) -> None:
    """Take an incident out of a library.

    Raises:
        UserError: it is not there, or the folder cannot be written.
    """
    path = library / f"{checked_name(name)}.json"
    try:
        path.unlink()
    except FileNotFoundError as error:
        raise UserError(f"{library} has no incident {name}", "doctord incident list") from error
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", "ask who owns the library") from error


def one_of(library: Path, name: str, watcher: Watcher = SILENT) -> Incident:
    """One incident by its name.

    Raises:
        UserError: it is not there.
    """
    for one in incidents_in(library, watcher):
        if one.name == name:
            return one
    raise UserError(f"{library} has no incident {name}", "doctord incident list")


def export(library: Path, file: Path, watcher: Watcher = SILENT) -> int:
    """Write all incidents of a library into one file; how many.

    Raises:
        UserError: there is none, or the file cannot be written.
    """
    found = incidents_in(library, watcher)
    if not found:
        raise UserError(f"{library} holds no incident", "doctord incident add")
    _write(file, {"schema_version": SCHEMA_VERSION, "incidents": [_document(one) for one in found]})
    return len(found)


def imported(file: Path) -> list[Incident]:
    """The incidents of a file: one, or a library that was exported.

    Raises:
        UserError: it cannot be read, or is none.
    """
    return _read(file)


def _contradictions(incident: Incident, others: Iterable[Incident]) -> Iterable[str]:
    known = [one for one in others if one.cause != incident.cause and one.name != incident.name]
    for like in likeness(incident.signature, [one.signature for one in known]):
        if like.alike >= ALIKE:
            other = known[like.place]
            yield (
                f"{incident.name} ({incident.cause}) is as good as {other.name} ({other.cause}): alike "
                f"{like.alike:.2f}, and nothing will tell them apart"
            )


def _write(path: Path, document: Mapping[str, Any]) -> None:
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_text(json.dumps(document, indent=1, allow_nan=False) + "\n", encoding="utf-8")
        unfinished.replace(path)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", "name a place that you may write to: --library DIR") from error


def _read(path: Path) -> list[Incident]:
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise UserError(f"{path}: too large for a library of incidents", "name what incident export wrote")
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", "name a file that you may read") from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: no JSON: {error}", "name what incident export wrote") from error
    if not isinstance(document, dict):
        raise UserError(f"{path}: no library of incidents", "name what incident export wrote")
    if document.get("schema_version") != SCHEMA_VERSION:
        raise UserError(
            f"{path}: of schema version {document.get('schema_version')!r}, and {SCHEMA_VERSION} is known",
            "a newer Doctor D wrote it; or it is no library",
        )
    given = document.get("incidents", [document])
    if not isinstance(given, list):
        raise UserError(f"{path}: incidents is no list", "name what incident export wrote")
    return [_incident(one, f"{path}: incident {number}") for number, one in enumerate(given, 1)]


def _document(incident: Incident) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "name": incident.name,
        "cause": incident.cause,
        "note": incident.note,
        "host": incident.host,
        "since": incident.since.isoformat(),
        "until": incident.until.isoformat(),
        "added": incident.added.isoformat(),
        "version": incident.version,
        "figures": {name: [change.higher, change.log_ratio] for name, change in incident.signature.items()},
    }


def _incident(given: object, where: str) -> Incident:
    hint = "name what incident export wrote"
    if not isinstance(given, dict):
        raise UserError(f"{where}: no object", hint)
    try:
        name, cause = checked_name(str(given["name"])), str(given["cause"])
        since, until, added = (_moment(given[key]) for key in ("since", "until", "added"))
        figures = dict(given["figures"])
        signature = {str(key): _change(value) for key, value in figures.items()}
    except KeyError as error:
        raise UserError(f"{where}: without {error}", hint) from error
    except (TypeError, ValueError) as error:
        raise UserError(f"{where}: {error}", hint) from error
    if len(signature) > MOST_FIGURES:
        raise UserError(f"{where}: {len(signature)} figures, and at most {MOST_FIGURES} are taken", hint)
    told = {key: str(given.get(key, "")) for key in ("note", "host", "version")}
    return Incident(name, cause, told["note"], told["host"], since, until, added, told["version"], signature)


def _moment(text: object) -> datetime:
    moment = datetime.fromisoformat(str(text))
    if moment.tzinfo is None:
        raise ValueError(f"{text} is without a time zone")
    return moment


def _change(value: Any) -> Change:  # noqa: ANN401 - whatever the file holds
    higher, log_ratio = (float(one) for one in value)
    if not (math.isfinite(log_ratio) and -1 <= higher <= 1):
        raise ValueError(f"a figure of {higher} and {log_ratio}: the first is -1 to 1, and both are numbers")
    return Change(higher, log_ratio)
