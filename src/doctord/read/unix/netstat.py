"""What `netstat -i` and `netstat -s` count since boot on Linux, Solaris and AIX: rates for who reads them twice.

Of -i: errors and drops of each interface (it counts packets, not bytes). Of -s: TCP's segments sent, those sent
again, listen queues that overflowed, connections now established. Other lines of -s that begin or end with a number
become `statistic`.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from doctord.read.figures import number

SECTION: Final = re.compile(r"(\w+):$")
BYTES: Final = re.compile(r" \(\d+ bytes\)")
COUNT_FIRST: Final = re.compile(r"\s+(\d+) ([A-Za-z].*)$")
COUNT_LAST: Final = re.compile(r"\s+([A-Za-z][\w ]*): (\d+)$")
SOLARIS: Final = re.compile(r"(\w+)\s*=\s*(\d+)")
WITH_ERRORS: Final = {"RX-ERR", "RX-DRP", "RX-OVR", "TX-ERR", "TX-DRP", "TX-OVR", "Ierrs", "Oerrs"}
WITH_PACKETS: Final = {"RX-OK": "packets_in", "TX-OK": "packets_out", "Ipkts": "packets_in", "Opkts": "packets_out"}
TCP: Final = {
    "segments sent out": "segments_out_per_s",
    "segments send out": "segments_out_per_s",
    "tcpOutDataSegs": "segments_out_per_s",
    "data packets": "segments_out_per_s",
    "data packets retransmitted": "retransmits_per_s",
    "segments retransmitted": "retransmits_per_s",
    "segments retransmited": "retransmits_per_s",
    "tcpRetransSegs": "retransmits_per_s",
    "times the listen queue of a socket overflowed": "listen_overflows_per_s",
    "SYNs to LISTEN sockets dropped": "listen_drops_per_s",
    "SYNs to LISTEN sockets ignored": "listen_drops_per_s",
    "tcpListenDrop": "listen_drops_per_s",
}
NOW: Final = {"connections established": "established", "tcpCurrEstab": "established"}


@dataclass(frozen=True, slots=True)
class Count:
    """One figure: a column of `network` or, without one, a name; of an interface or, without one, of the host."""

    column: str | None
    name: str
    value: float
    interface: str | None = None

    @property
    def is_counter(self) -> bool:
        """Whether it rises since boot; else it is a reading."""
        return self.column != "established"


def is_netstat(lines: list[str]) -> bool:
    """Whether a text is of netstat."""
    return any(
        line.strip() in {"Tcp:", "tcp:"} or "tcpRtoAlgorithm" in line or _is_heading(line.split()) for line in lines
    )


def counts(lines: Iterable[str]) -> Iterator[Count]:
    """The figures in a text, in the order in which they stand."""
    heading, section = list[str](), ""
    for line in lines:
        words = line.split()
        if _is_heading(words):
            heading = words
        elif named := SECTION.match(line):
            heading, section = [], named[1]
        elif heading and len(words) >= len(heading) - 1:
            yield from _of_interface(heading, words)
        else:
            yield from _of_protocols(line, section)


def _is_heading(words: list[str]) -> bool:
    return bool(words) and words[0] in {"Iface", "Name"} and bool(WITH_PACKETS.keys() & set(words))


def _of_interface(heading: list[str], words: list[str]) -> Iterator[Count]:
    # An address in the middle may be missing: figures are found from the end.
    values = {title: number(word) for title, word in zip(reversed(heading), reversed(words), strict=False)}
    errors = [value for title in WITH_ERRORS if (value := values.get(title)) is not None]
    if errors:
        yield Count("errors_per_s", "errors", sum(errors), words[0])
    for title, name in WITH_PACKETS.items():
        if (value := values.get(title)) is not None:
            yield Count(None, f"netstat.{name}", value, words[0])


def _of_protocols(line: str, section: str) -> Iterator[Count]:
    plain = BYTES.sub("", line.rstrip())
    first = COUNT_FIRST.match(plain)
    named = [(first[2], first[1])] if first else COUNT_LAST.findall(plain) or SOLARIS.findall(plain)
    for name, text in named:
        column = TCP.get(name) or NOW.get(name)
        yield Count(column, f"netstat.{section}.{name}" if section else f"netstat.{name}", float(text))
