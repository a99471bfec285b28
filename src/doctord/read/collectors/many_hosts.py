"""What a command printed on many hosts at once: pdsh, clush, dsh, ansible, dshbak.

The lines of each host are read as a file of their own, of whatever format they have, with that host's name:

    db1: Linux 5.14.0 (db1)  05/30/2024        pdsh, clush, dsh: each line begins with its host
    db1 | CHANGED | rc=0 >>                    ansible ad hoc: the lines until the next host follow
    ----------------                           clush -b, dshbak: the hosts between two rulers, then their lines
    db1

Lines of other hosts may stand between. A host whose lines have no format is named in a note.
"""

import io
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from typing import Final, TypeAlias

from doctord._native import Batch
from doctord.errors import UserError
from doctord.read.format import Format, Rank, formats
from doctord.read.source import Lacks, SourceFile, source_of
from doctord.regex import regex

NAME = "what many hosts printed (pdsh, clush, dsh, ansible)"
RANK = Rank.ARCHIVE
LOOKED_AT: Final = 400
LEAST_LINES: Final = 3  # of a host: a word with a colon begins many a line by chance
MOST_OF: Final = 0.9  # the rest may be what pdsh itself said
PREFIXED: Final = regex(r"(?=[\w.-]*[A-Za-z])([A-Za-z0-9][\w.-]*):(?: (.*))?$")
ANSIBLE: Final = regex(r"([\w.-]+) \| (?:CHANGED|SUCCESS|FAILED)(?: \| rc=\d+)? >>$")
RULER: Final = regex(r"-{4,}$")
NAMES: Final = regex(r"[A-Za-z0-9][\w.,\[\]-]*(?: \(\d+\))?$")

# Host and line, or null for a line that says nothing.
Lines: TypeAlias = Iterator[tuple[str, str]]


def sniff(head: str) -> bool:
    """Whether its lines are those of hosts, and at least one host's have a format."""
    lines = head.splitlines()
    if len(head) >= 1 << 12:
        lines = lines[:-1]  # may be cut off
    parted = _way(lines)
    if parted is None:
        return False
    by_host = _by_host(parted(iter(lines)))
    return any(_format_of("\n".join(held)) for held in by_host.values())


def read(source: SourceFile) -> Iterator[Batch]:
    """The rows of each host's lines."""
    parted = _way(source.head.splitlines())
    if parted is None:
        return
    lacks = set[Lacks | None]()
    for host, lines in _by_host(parted(text for _, text in source.lines())).items():
        lacks.add((yield from _of_host(host, "\n".join(lines) + "\n", source)))
    if len(of_all := lacks - {None}) == 1:
        source.lacks = of_all.pop() or ""


def _of_host(host: str, text: str, source: SourceFile) -> Generator[Batch, None, Lacks | None]:
    """The rows of a host; at the end what its lines do not tell of their times, null where they have no format."""
    found = _format_of(text[: 1 << 16])
    if found is None:
        source.note(f"{host}: no format that Doctor D reads")
        return None
    own = source_of(io.BytesIO(text.encode()), f"{source.name}, {host}", source.options)
    own.host, own.modified, own.size_bytes = host, source.modified, len(text)
    try:
        yield from found.read(own)
    except UserError as refusal:
        source.note(f"{host}: {refusal}")
    own.sum_up()
    source.skipped += own.skipped
    source.skipped_lines += own.skipped_lines
    for note in own.notes:
        source.note(f"{host}: {note}")
    return own.lacks


def _format_of(text: str) -> Format | None:
    return next((known for known in formats() if known.RANK is not Rank.ARCHIVE and known.sniff(text)), None)


def _way(lines: list[str]) -> Callable[[Iterator[str]], Lines] | None:
    """How a text tells the host of a line; null where it does not."""
    told = [line for line in lines[:LOOKED_AT] if line.strip()]
    if not told:
        return None
    if ANSIBLE.match(told[0]):
        return _after_ansible
    if len(told) > 3 and RULER.match(told[0]) and NAMES.match(told[1]) and RULER.match(told[2]):
        return _after_ruler
    hosts = Counter(found[1] for line in told if (found := PREFIXED.match(line)))
    theirs = sum(count for count in hosts.values() if count >= LEAST_LINES)
    return _prefixed if theirs >= MOST_OF * len(told) else None


def _prefixed(lines: Iterator[str]) -> Lines:
    for line in lines:
        if found := PREFIXED.match(line):
            yield found[1], found[2] or ""


def _after_ansible(lines: Iterator[str]) -> Lines:
    host = ""
    for line in lines:
        if found := ANSIBLE.match(line):
            host = found[1]
        elif host:
            yield host, line


def _after_ruler(lines: Iterator[str]) -> Lines:
    host, before, awaits = "", "", False
    for line in lines:
        if RULER.match(line):
            host, awaits = (before, False) if awaits else ("", True)
        elif host and not awaits:
            yield host, line
        before = line.strip()


def _by_host(lines: Lines) -> dict[str, list[str]]:
    held: dict[str, list[str]] = {}
    for host, line in lines:
        held.setdefault(host, []).append(line)
    return held
