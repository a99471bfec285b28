"""The Linux kernel's log: dmesg (also -T, -d and -e), syslog's kern.log, journalctl; what tells of trouble in it.

`event`, of the host: `oom kill` (the host had no memory left; the subject is the process that the kernel killed),
`oom kill in control group` (the group's limit was reached; also what systemd-oomd killed), `hung task` (in state D for
longer than hung_task_timeout_secs), `I/O error` and `device reset` (the subject is the device), `read-only` (a file
system that was made so after an error).

Times of syslog have no year: that of the file's last change, or the one before, is taken. Those of dmesg count from
the boot: its last line is taken to be when the file was last written; so are those of `dmesg -e` where it names no
minute. Lines of other programs are left out.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from doctord._native import Batch
from doctord.dataset.kernel_messages import OF_A_GROUP, KernelMessages, named
from doctord.dataset.rows import micros, rows
from doctord.read.format import Rank
from doctord.read.moments import ZONE_ASSUMED, placed_moment
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "the Linux kernel's log"
RANK = Rank.SHAPE
LOOKED_AT: Final = 20
MOST_OF_THEM: Final = 0.5  # of the first lines: others are rests of what went over several lines
SINCE_BOOT: Final = regex(r"(?:<\d+>|\w+ *:\w+ *: )?\[ *(?P<boot_s>\d{1,9}\.\d+)(?: <[ \d.]+>)?\] (?P<said>.*)$")
# dmesg -e: the minute where it is another, else how much later than the line before.
RELATIVE: Final = regex(
    r"(?:<\d+>)?\[(?: *\+(?P<later_s>\d{1,9}\.\d+)|(?P<minute>[A-Z][a-z]{2} ?\d{1,2} \d\d:\d\d))\] (?P<said>.*)$"
)
IN_WORDS: Final = regex(
    r"(?:<\d+>)?\[(?P<words>[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4})\] (?P<said>.*)$"
)
SYSLOG: Final = regex(
    r"(?P<stamp>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?P<part>[.,]\d+)?"
    r"(?P<zone>Z|[+-]\d\d:?\d\d)? (?P<host>\S+) (?P<program>[\w.-]+)(?:\[\d+\])?: (?:\[ *\d+\.\d+\] ?)?(?P<said>.*)$"
)
KERNEL: Final = "kernel"
OOMD: Final = "systemd-oomd"
KILLED_BY_OOMD: Final = regex(r"Killed (?P<group>/\S+) due to (?P<why>.*)$")
NO_LINE: Final = "no line of a log with its time"
NO_YEAR: Final = "no year beside its times: {} is taken, by its last change"
NO_BOOT: Final = "its times count from the boot: the last line is taken to be when the file was last written"

NO_TROUBLE: Final = "nothing in it tells of trouble: no kill, no task that hangs, no error of a device"


class Said(NamedTuple):
    """A line: the stamp before it, its program and what it says; and its host, where it tells."""

    stamp: "re.Match[str]"
    program: str
    text: str
    host: str | None = None

    @property
    def boot_s(self) -> float | None:
        """Seconds since the boot; null where the stamp is a moment."""
        told = self.stamp.groupdict().get("boot_s")
        return None if told is None else float(told)

    def moment(self, source: SourceFile) -> datetime | None:
        """The moment of the stamp; null where it is none."""
        words = self.stamp.groupdict().get("words")
        return placed_moment(words, source) if words else _syslog_moment(self.stamp, source)


@dataclass(slots=True)
class Steps:
    """The clock of `dmesg -e`: seconds since its first line, and what moment one of them was, where that is told."""

    source: SourceFile
    now_s: float = 0.0
    anchor: tuple[float, datetime] | None = None

    def seconds(self, stamp: "re.Match[str]") -> float | None:
        """When a line was; null where its stamp is no step."""
        told = stamp.groupdict()
        if later_s := told.get("later_s"):
            self.now_s += float(later_s)
        elif minute := told.get("minute"):
            moment = _of_minute(minute, self.source)
            if moment and self.anchor:
                self.now_s = max(self.placed_s(moment), self.now_s)
            elif moment:
                self.anchor = (self.now_s, moment)
        else:
            return None
        return self.now_s

    def placed_s(self, moment: datetime) -> float:
        """Seconds of a moment on this clock."""
        assert self.anchor is not None  # noqa: S101 - asked where a moment is known
        return self.anchor[0] + (moment - self.anchor[1]).total_seconds()

    def placed(self, now_s: float) -> datetime:
        """The moment of seconds on this clock."""
        assert self.anchor is not None  # noqa: S101 - asked where a moment is known
        return self.anchor[1] + timedelta(seconds=now_s - self.anchor[0])


def _of_minute(text: str, source: SourceFile) -> datetime | None:
    """The moment of `Oct28 16:58`, which has no year."""
    stamp = f"{text[:3]} {text[3:].strip().rjust(8)}:00"
    found = SYSLOG.match(f"{stamp} host kernel: ")
    return _syslog_moment(found, source) if found else None


def sniff(head: str) -> bool:
    """Whether its first lines have the stamps of dmesg, or of syslog and the kernel is among those who speak."""
    lines = [line for line in head.splitlines() if line.strip()]
    first = lines[:LOOKED_AT]
    of_dmesg = sum(bool(_of_dmesg(line)) for line in first)
    if of_dmesg and of_dmesg >= MOST_OF_THEM * len(first):
        return True
    of_syslog = sum(bool(SYSLOG.match(line)) for line in first)
    return of_syslog > 0 and of_syslog >= MOST_OF_THEM * len(first) and f" {KERNEL}: " in head


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `event`."""
    found, last_boot_s = list[tuple[Said, float | datetime, dict[str, str | None]]](), 0.0
    steps, messages = Steps(source), KernelMessages()
    for number, text in source.lines():
        said = _said(text)
        if said is None:
            if text.strip() and not text[0].isspace():
                source.skip(number, NO_LINE)
            continue
        boot_s = steps.seconds(said.stamp) if said.boot_s is None else said.boot_s
        last_boot_s = boot_s or last_boot_s
        if event := _event(said, messages):
            at = said.moment(source) if boot_s is None else boot_s
            if at is None:
                source.skip(number, NO_LINE)
            else:
                found.append((said, at, event))
    if not found:
        source.note(NO_TROUBLE)
        return
    placed = steps.placed if steps.anchor else _placing(source, last_boot_s)
    made: list[dict[str, Any]] = [
        event | {"ts": micros(at if isinstance(at, datetime) else placed(at)), "host": said.host or source.host}
        for said, at, event in found
    ]
    yield rows("event", made)


def _of_dmesg(line: str) -> "re.Match[str] | None":
    return SINCE_BOOT.match(line) or IN_WORDS.match(line) or RELATIVE.match(line)


def _said(line: str) -> Said | None:
    if found := SYSLOG.match(line):
        return Said(found, found["program"], found["said"], found["host"])
    if found := _of_dmesg(line):
        return Said(found, KERNEL, found["said"])
    return None


def _syslog_moment(found: "re.Match[str]", source: SourceFile) -> datetime | None:
    stamp, zone = found["stamp"], found["zone"]
    try:
        if stamp[0].isdigit():
            moment = datetime.fromisoformat(f"{stamp}{(found['part'] or '').replace(',', '.')}{zone or ''}")
        else:
            latest = source.modified or datetime.now(UTC)
            moment = datetime.strptime(f"{latest.year} {stamp}", "%Y %b %d %H:%M:%S")  # noqa: DTZ007 - zoned below
            if moment.month > latest.month:
                moment = moment.replace(year=latest.year - 1)
            source.note(NO_YEAR.format(moment.year))
    except ValueError:
        return None
    if moment.tzinfo is None:
        if source.zone is None:
            source.note(ZONE_ASSUMED)
        moment = moment.replace(tzinfo=source.zone or UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:  # the year 1
        return None


def _placing(source: SourceFile, last_boot_s: float) -> Callable[[float], datetime]:
    """A function from seconds since the boot to the moment."""
    end = source.modified or datetime(1970, 1, 2, tzinfo=UTC)
    if last_boot_s:
        source.note(NO_BOOT)
    return lambda boot_s: end - timedelta(seconds=max(last_boot_s - boot_s, 0.0))


def _event(said: Said, messages: KernelMessages) -> dict[str, str | None] | None:
    """Kind, subject and text of what a line tells; null where it is no trouble."""
    if said.program == OOMD:
        found = KILLED_BY_OOMD.search(said.text)
        return named(OF_A_GROUP, found["group"], f"by systemd-oomd, {found['why']}", found["group"]) if found else None
    return messages.event(said.text) if said.program == KERNEL else None
