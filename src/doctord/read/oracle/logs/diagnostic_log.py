"""Oracle's diagnostic logs line by line with their time: as text with stamps between the lines, or as XML (log.xml).

Stamps are `Thu Mar 01 10:00:00 2012` (to 12.1), `2023-01-06 11:23:56.814000 +05:45` (12.1) and
`2017-06-05T16:02:38.778123+08:00` (since 12.2). log.xml is a row of `<msg time='...' host_id='...'> <txt>...</txt>
</msg>` without a root, so it is read by lines.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from html import unescape
from typing import NamedTuple

from doctord.dataset.rows import micros
from doctord.read.moments import ZONE_ASSUMED
from doctord.read.source import SourceFile
from doctord.regex import regex

ISO = regex(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d+)? ?(Z|[+-]\d\d:\d\d)?\s*$")
OLD = regex(r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \w{3} [ \d]\d \d\d:\d\d:\d\d (?:[A-Z]{3,5} )?\d{4}\s*$")
OLD_LAYOUT = "%a %b %d %H:%M:%S %Y"
STAMPED = regex(f"^(?:{ISO.pattern}|{OLD.pattern})", re.MULTILINE)
ATTRIBUTE = regex(r"(\w+)='([^']*)'")


class LogLine(NamedTuple):
    """A line of a message: its number in the file, when it was written (null: not known yet), and its text."""

    number: int
    at_us: int | None
    text: str


class DiagnosticLog:
    """A log that is read once.

    Attributes:
        zone: The zone of the last stamp that had one; null: none had.
    """

    def __init__(self, source: SourceFile) -> None:
        """Nothing is read yet."""
        self._source = source
        self._at_us: int | None = None
        self.zone: tzinfo | None = None

    def lines(self) -> Iterator[LogLine]:
        """The lines of all messages; stamps and marks are no lines."""
        return self._xml() if is_xml(self._source.head) else self._text()

    def _text(self) -> Iterator[LogLine]:
        for number, line in self._source.lines():
            if line[:1] in "0123456789MTWFS" and STAMPED.match(line):
                self._stamp(number, line.strip())
            elif line:
                yield LogLine(number, self._at_us, line)

    def _xml(self) -> Iterator[LogLine]:
        head: str | None = None  # of the message, as far as it was read
        for number, line in self._source.lines():
            text = line
            if line.startswith("<msg"):
                head = ""
            if head is not None:
                marks, opened, text = line.partition("<txt>")
                head += f" {marks}"
                if not opened:
                    continue
                self._message(number, head)
                head = None
            text, _, _ = text.partition("</txt>")
            if text.strip() and text.strip() not in {"</msg>", ">"}:
                yield LogLine(number, self._at_us, unescape(text))

    def _message(self, number: int, head: str) -> None:
        attributes = dict(ATTRIBUTE.findall(head))
        self._stamp(number, attributes.get("time", ""))
        self._source.host = self._source.host or attributes.get("host_id")

    def _stamp(self, number: int, text: str) -> None:
        try:
            if found := ISO.match(text):
                zone = (found[4] or "").replace("Z", "+00:00")
                moment = datetime.fromisoformat(f"{found[1]}T{found[2]}{(found[3] or '')[:7]}{zone}")
            else:
                plain = re.sub(r" [A-Z]{3,5}(?= \d{4}$)", "", text)  # an abbreviated zone may mean many
                moment = datetime.strptime(plain, OLD_LAYOUT)  # noqa: DTZ007 - its zone is looked at below
        except ValueError:
            self._source.skip(number, "no time of day")
            return
        self.zone = moment.tzinfo or self.zone
        if moment.tzinfo is None:
            moment = self.placed(moment)
        self._at_us = micros(moment)

    def placed(self, moment: datetime) -> datetime:
        """A moment of the log that has no zone of its own: in that of its stamps, else in the user's, else in UTC."""
        zone = self.zone or self._source.zone
        if zone is None:
            self._source.note(ZONE_ASSUMED)
        return moment.replace(tzinfo=zone or UTC)


def is_xml(head: str) -> bool:
    """Whether a log that begins so is log.xml."""
    return bool(re.match(r"\s*(?:</?(?:msg|txt)\b|.{0,200}?</txt>)", head, re.DOTALL)) and "<msg time=" in head


def component(head: str) -> str | None:
    """What wrote a log.xml: `rdbms`, `tnslsnr`; null for text."""
    found = re.search(r"<msg time='[^']*' org_id='oracle' comp_id='(\w+)'", head)
    return found[1] if found else None
