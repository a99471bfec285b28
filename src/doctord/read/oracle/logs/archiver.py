"""How long each log took to be filled and to be archived, by the switches and the archiver's lines of an alert log."""

from collections.abc import Iterator
from typing import Any, Final

from doctord.regex import regex

SWITCHED: Final = regex(r"Thread (\d+) advanced to log sequence (\d+)")
# 11.1 on, 12.2 on, and 8i to 10g.
ARCHIVED: Final = regex(
    r"Archived Log entry \d+ added for (?:thread |T-)(?P<thread>\d+)(?: sequence |\.S-)(?P<sequence>\d+)"
    r"|Completed archiving\s+(?:log \d+\s+)?thread (?P<old_thread>\d+) sequence (?P<old_sequence>\d+)"
)
MARKS: Final = ("advanced to", "Archived Log", "Completed arch")


class Archiver:
    """The logs of all threads of a database."""

    def __init__(self) -> None:
        """Nothing was switched yet."""
        self._begun: dict[tuple[int, int], int] = {}
        self._archived = set[tuple[int, int]]()
        self._rows: list[dict[str, Any]] = []

    def take(self, text: str, at_us: int) -> None:
        """A line, and its moment in microseconds since 1970."""
        if not any(mark in text for mark in MARKS):
            return
        if found := SWITCHED.search(text):
            self._begun[int(found[1]), int(found[2])] = at_us
        elif found := ARCHIVED.search(text):
            thread, sequence = int(found[1] or found[3]), int(found[2] or found[4])
            if (thread, sequence) not in self._archived:  # the first of several destinations
                self._archived.add((thread, sequence))
                self._tell(thread, sequence, at_us)

    def statistics(self) -> Iterator[dict[str, Any]]:
        """Seconds of each log that was seen to be filled and archived."""
        yield from self._rows

    def _tell(self, thread: int, sequence: int, at_us: int) -> None:
        begun_us, full_us = self._begun.get((thread, sequence)), self._begun.get((thread, sequence + 1))
        if begun_us is None or full_us is None or not begun_us <= full_us <= at_us:
            return
        for name, length_us in (("archive_time", at_us - full_us), ("fill_time", full_us - begun_us)):
            self._rows.append({
                "ts": at_us, "component": "oracle", "name": f"alert_log.{name}", "entity": f"thread {thread}",
                "value": length_us / 1e6, "unit": "s", "kind": "gauge",
            })  # fmt: skip
