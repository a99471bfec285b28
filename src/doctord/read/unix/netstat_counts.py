"""The counters in what netstat, nstat and /proc/net/snmp say, line by line; what they are is told at `netstat`."""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from doctord.read.figures import number
from doctord.regex import regex

SECTION: Final = regex(r"(\w+):$")
BYTES: Final = regex(r" \(\d+ bytes\)")
COUNT_FIRST: Final = regex(r"\s+(\d+) ([A-Za-z].*)$")
COUNT_LAST: Final = regex(r"\s+([A-Za-z][\w ]*): (\d+)$")
SOLARIS: Final = regex(r"\b(\w++)\s*+=\s*+(\d+)")  # from the beginning of a word: a long one is looked at once
NSTAT: Final = regex(r"(Ip6?|IpExt|Icmp6?|IcmpMsg|TcpExt|Tcp|Udp6?|UdpLite6?|MPTcpExt)([A-Z]\w+)\s+(\d+)\s+[\d.]+$")
OF_PROC: Final = regex(r"(Ip|Icmp|IcmpMsg|Tcp|Udp|UdpLite|TcpExt|IpExt|MPTcpExt): (.+)$")
INDENTED: Final = regex(r"\s+\S")  # words of a line that holds no figure: Detected reordering, ...
OF_INTERFACE: Final = regex(r"[\w.:@*-]+\s+\d+\s+\S.*\s\d+")
TITLES: Final = ("#", "Kernel Interface table", "Active", "Proto")
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
    "OutSegs": "segments_out_per_s",
    "RetransSegs": "retransmits_per_s",
    "ListenOverflows": "listen_overflows_per_s",
    "ListenDrops": "listen_drops_per_s",
}
NOW: Final = {"connections established": "established", "tcpCurrEstab": "established", "CurrEstab": "established"}


class Count(NamedTuple):
    """One figure: a column of `network` or, without one, a name; of an interface or, without one, of the host."""

    column: str | None
    name: str
    value: float
    interface: str | None = None

    @property
    def is_counter(self) -> bool:
        """Whether it rises since boot; else it is a reading."""
        return self.column != "established"


def is_line(line: str) -> bool:
    """Whether a line is one of these, a heading or words of theirs."""
    text = line.rstrip()
    return (
        text.lstrip().startswith(TITLES)
        or _is_heading(text.split())
        or any(shape.match(text) for shape in (SECTION, INDENTED, NSTAT, OF_PROC, COUNT_FIRST, COUNT_LAST))
        or SOLARIS.search(text) is not None
        or OF_INTERFACE.match(text) is not None
    )


def is_netstat(lines: list[str]) -> bool:
    """Whether a text is of netstat."""
    return any(
        line.strip() in {"Tcp:", "tcp:", "Ip:"}
        or "tcpRtoAlgorithm" in line
        or _is_heading(line.split())
        or NSTAT.match(line.rstrip()) is not None
        or line.startswith(("Ip: Forwarding", "TcpExt: SyncookiesSent"))
        for line in lines
    )


def counts(lines: Iterable[str]) -> Iterator[Count]:
    """The figures in a text, in the order in which they stand."""
    heading, section, titles = list[str](), "", dict[str, list[str]]()
    for line in lines:
        words = line.split()
        if found := NSTAT.match(line.rstrip()):
            yield _of_kernel(found[1], found[2], float(found[3]))
        elif told := OF_PROC.match(line):
            yield from _of_proc(told[1], told[2].split(), titles)
        elif _is_heading(words):
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


def _of_kernel(section: str, name: str, value: float) -> Count:
    return Count(TCP.get(name) or NOW.get(name), f"netstat.{section}.{name}", value)


def _of_proc(section: str, words: list[str], titles: dict[str, list[str]]) -> Iterator[Count]:
    """Names stand in one line of /proc, figures in the next."""
    values = [number(word) for word in words]
    if None in values:
        titles[section] = words
        return
    for name, value in zip(titles.get(section, ()), values, strict=False):
        if value is not None and value >= 0:
            yield _of_kernel(section, name, value)


def _of_protocols(line: str, section: str) -> Iterator[Count]:
    plain = BYTES.sub("", line.rstrip())
    first = COUNT_FIRST.match(plain)
    named = [(first[2], first[1])] if first else COUNT_LAST.findall(plain) or SOLARIS.findall(plain)
    for name, text in named:
        column = TCP.get(name) or NOW.get(name)
        yield Count(column, f"netstat.{section}.{name}" if section else f"netstat.{name}", float(text))
