"""A study as a file in TOML, to be run again and kept beside what was changed.

    question = "Does a larger log buffer make commits faster?"
    change = "log_buffer"                # what was changed on purpose
    before = "before"                    # files or folders, from the folder of this file on; or FROM..TO of a lake
    after = "after"
    lake = "/var/lib/doctord"            # with periods as FROM..TO; without it `before` and `after` are files
    folder = "redo"                      # in place of before and after: what holds both
    host = "db1"                         # where there are several
    twin = "db2"                         # another host of the lake, or another lake, that was not changed
    load = "commit"                      # unit of load
    targets = ["commit_ms < 2"]
    accepted = ["log file sequential read"]
    verdict = "better"                   # what it came to; where it comes to another now, that is said

Each but the periods may be left out.
"""

import tomllib
from pathlib import Path
from typing import Any, Final

from doctord.app.source import Recorded
from doctord.app.study.question import target
from doctord.app.study.study import Question, Study, of_lake, of_paths
from doctord.app.watcher import SILENT, Watcher
from doctord.errors import UserError
from doctord.lake.place import is_lake
from doctord.read.source import ReadOptions

HINT: Final = "docs/how-to/study-a-change.md shows a study file"
TEXTS: Final = ("question", "change", "before", "after", "lake", "folder", "host", "twin", "load", "verdict")
LISTS: Final = ("targets", "accepted")


def is_study_file(path: Path) -> bool:
    """Whether a path is such a file, by its name."""
    return path.suffix == ".toml" and path.is_file()


def of_file(path: Path, options: ReadOptions, watcher: Watcher = SILENT) -> Study:
    """The study that a file describes.

    Raises:
        UserError: the file is none of that form, or what it names cannot be compared.
    """
    told = _told(path)
    question = Question(
        targets=tuple(map(target, told.get("targets", ()))),
        accepted=tuple(told.get("accepted", ())),
        unit=told.get("load"),
        text=told.get("question", ""),
        change=told.get("change", ""),
        twin=_twin(path, told),
    )
    found = _study(path, told, options, question, watcher)
    kept = told.get("verdict")
    if kept and kept != found.verdict:
        watcher.note(f"{path}: the verdict was {kept!r}, and is {found.verdict!r} now")
    return found


def _study(path: Path, told: dict[str, Any], options: ReadOptions, question: Question, watcher: Watcher) -> Study:
    if "folder" in told:
        return of_paths([path.parent / told["folder"]], options, question, told.get("host"), watcher)
    if not {"before", "after"} <= told.keys():
        raise UserError(f"{path}: there is no before and after", HINT)
    if "lake" in told:
        recorded = Recorded(path.parent / told["lake"], told.get("host"))
        return of_lake(recorded, told["before"], told["after"], question, watcher)
    if question.twin:
        raise UserError(f"{path}: a twin without a lake", "a twin is another host, or lake, of the same times")
    places = [path.parent / told[state] for state in ("before", "after")]
    return of_paths(places, options, question, told.get("host"), watcher)


def _twin(path: Path, told: dict[str, Any]) -> str:
    """A lake as seen from the folder of the file, else the name of a host."""
    twin: str = told.get("twin", "")
    return str(path.parent / twin) if twin and is_lake(path.parent / twin) else twin


def _told(path: Path) -> dict[str, Any]:
    """What the file says, each key of its type.

    Raises:
        UserError: it is no TOML, has a key that is none, or a value of another type.
    """
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"{path}: no study file: {error}", HINT) from error
    if unknown := told.keys() - {*TEXTS, *LISTS}:
        raise UserError(f"{path}: there is no key {min(unknown)!r}", f"keys are {', '.join((*TEXTS, *LISTS))}")
    for key, value in told.items():
        is_list = isinstance(value, list) and all(isinstance(one, str) for one in value)
        if not (is_list if key in LISTS else isinstance(value, str)):
            raise UserError(f"{path}: {key} is no {'list of texts' if key in LISTS else 'text'}: {value!r}", HINT)
    return told
