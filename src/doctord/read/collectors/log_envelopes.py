r"""Logs as those keep them who take them from a program's output: each line in an envelope with its time.

    {"log":"LOG:  checkpoint starting: time\n","stream":"stderr","time":"2026-11-20T22:44:50.123Z"}   Docker's json-file
    2026-11-20T22:44:50.123456789Z stderr F LOG:  checkpoint starting: time    the container runtimes of Kubernetes
    {"__REALTIME_TIMESTAMP":"1795214690934000","_HOSTNAME":"db1","MESSAGE":"LOG:  ...",...}    journalctl -o json
    db_1         | LOG:  checkpoint starting: time                             docker-compose logs

What is in them is read as the log that it is, with the time before each line, where the envelope has one: PostgreSQL's,
MySQL's, the kernel's. The journal tells the host too. Pieces of a line that a runtime cut (`P`, or without a line end)
are put together.
"""

import io
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, Final

from doctord._native import Batch
from doctord.errors import UserError
from doctord.read.format import Rank, formats
from doctord.read.source import SourceFile, source_of
from doctord.regex import regex

NAME = "a log in envelopes (Docker, Kubernetes, the journal)"
RANK = Rank.ARCHIVE
LOOKED_AT: Final = 20
HINT: Final = "what it reads: doctord read --formats, docs/reference/files.md"
NO_ENVELOPE: Final = "no envelope of a line, as the others have"
CRI: Final = regex(r"(?P<time>\d{4}-\d\d-\d\dT\S+) std(?:out|err) (?P<tag>[FP])(?::\S*)? (?P<said>.*)$")
# docker-compose names a container by its service and a number, padded to the longest name.
COMPOSE: Final = regex(r"(?P<name>[A-Za-z][\w.-]*[-_]\d+) +\| ?(?P<said>.*)$")
LINE_ENDS: Final = regex(r"\r?\n")

# The time and who wrote, what was written, and whether the line goes on in the next envelope.
Letter = tuple[str, str, bool]


def sniff(head: str) -> bool:
    """Whether its first lines are envelopes of one kind."""
    lines = [line for line in head.splitlines()[:LOOKED_AT] if line.strip()]
    # The last may be cut where the head ends.
    return any(all(map(opened, lines[:-1] or lines)) and bool(lines) for opened in OPENERS)


def read(source: SourceFile) -> Iterator[Batch]:
    """The rows of the log within.

    Raises:
        UserError: it is none that is read.
    """
    inner = source_of(io.BufferedReader(_Text(_unwrapped(source))), source.name, source.options)
    inner.host, inner.modified = source.host, source.modified
    found = next((known for known in formats() if known.sniff(inner.head)), None)
    if found is None:
        raise UserError(f"{source.name}: {NAME}, but what is in it is no format that Doctor D reads", HINT)
    yield from found.read(inner)
    source.lacks = inner.lacks
    source.skipped += inner.skipped
    source.skipped_lines += inner.skipped_lines
    for note in inner.notes:
        source.note(note)


class _Text(io.RawIOBase):
    """Lines as a stream of bytes."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines, self._rest = lines, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - any writable buffer
        while not self._rest and (line := next(self._lines, None)) is not None:
            self._rest = f"{line}\n".encode()
        length = min(len(buffer), len(self._rest))
        buffer[:length], self._rest = self._rest[:length], self._rest[length:]
        return length


def _unwrapped(source: SourceFile) -> Iterator[str]:
    """Each line with its time before it."""
    begun = ""
    for number, line in source.lines():
        if not line.strip():
            continue
        letter = next(filter(None, (opened(line) for opened in OPENERS)), None)
        if letter is None:
            source.skip(number, NO_ENVELOPE)
            continue
        head, said, goes_on = letter
        begun += said
        if not goes_on:
            yield from (f"{head} {part}" if head else part for part in LINE_ENDS.split(begun))
            begun = ""
    if begun:
        yield begun


def _of_docker(line: str) -> Letter | None:
    told = _object(line)
    if not {"log", "stream", "time"} <= told.keys():
        return None
    said = str(told["log"])
    return str(told["time"]), said.removesuffix("\n").removesuffix("\r"), not said.endswith("\n")


def _of_runtime(line: str) -> Letter | None:
    found = CRI.match(line)
    return (found["time"], found["said"], found["tag"] == "P") if found else None


def _of_compose(line: str) -> Letter | None:
    """The program's own line, with its own time, behind the name of the container."""
    found = COMPOSE.match(line)
    return ("", found["said"], False) if found else None


def _of_journal(line: str) -> Letter | None:
    """In the form of `journalctl -o short-iso`; a message that is no text is a list of bytes."""
    told = _object(line)
    if "__REALTIME_TIMESTAMP" not in told or "MESSAGE" not in told:
        return None
    said = told["MESSAGE"]
    try:
        text = bytes(said).decode(errors="replace") if isinstance(said, list) else str(said or "")
        at = datetime.fromtimestamp(int(told["__REALTIME_TIMESTAMP"]) / 1e6, UTC)
    except (ValueError, TypeError, OverflowError, OSError):
        return None
    program = told.get("SYSLOG_IDENTIFIER") or told.get("_COMM") or "unknown"
    pid = told.get("SYSLOG_PID") or told.get("_PID")
    return f"{at.isoformat()} {told.get('_HOSTNAME', 'unknown')} {program}{f'[{pid}]' if pid else ''}:", text, False


def _object(line: str) -> dict[str, Any]:
    if not line.startswith("{"):
        return {}
    try:
        told = json.loads(line)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


OPENERS: Final[tuple[Callable[[str], Letter | None], ...]] = (_of_docker, _of_runtime, _of_journal, _of_compose)
