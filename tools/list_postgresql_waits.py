"""Renew the list of PostgreSQL's wait events by what servers know of them, and say which the mapping lacks.

    .venv/bin/python tools/list_postgresql_waits.py [--write] [13 15 18 ...]

From version 17 on a server lists its events (pg_wait_events); it is started for that in a temporary folder, as in the
tests. Before, their names stand in the program as they were compiled, those of one source file together: whatever
stands next to names that are known is one, and so is a name of the mapping anywhere; its type is that of the mapping.
What the mapping has no line for is printed with `missing` before it; give it one in
`src/doctord/dataset/waits/postgresql.csv`. Names of a program that are no events are in NO_EVENTS. Half a minute.
"""

import csv
import difflib
import io
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parents[1] / "tests/support/servers"))

from settings_list import arguments

from doctord.dataset.waits.postgres import wait_events
from servers import FROM_NPM, PACKAGED, PostgresServer, running_postgres

LIST: Final = Path(__file__).parents[1] / "tests/dataset/waits/postgresql_events.csv"
COLUMNS: Final = ("type", "event", "versions")
TELLS: Final = 17
NAME: Final = re.compile(rb"[A-Z][A-Za-z0-9]{3,}|<unassigned:\d+>")
# Of each group of names one that all versions have.
ANCHORS: Final = (b"ArchiverMain", b"OidGen", b"BufferContent")
# Functions that stand beside the names of locks, types, numbers that are free.
NO_EVENTS: Final = re.compile(r".*LWLock.*|Timeout|Client|Activity|<.*")

Events = set[tuple[str, str]]


def told(server: PostgresServer) -> Events:
    """Type and name of each event that a server knows."""
    if server.version >= TELLS:
        return {(kind, _usual(kind, name)) for kind, name in server.execute("SELECT type, name FROM pg_wait_events")}
    texts = [text for text in (server.bin / "postgres").read_bytes().split(b"\0") if text]
    have = {text.lower() for text in texts}
    known = {
        (line.wait_event_type, line.event)
        for line in wait_events().values()
        if line.event != "*" and line.event.lower().encode() in have
    }
    names = {event.lower() for _, event in known}
    return known | {("", name) for name in compiled(texts) if name.lower() not in names}


def compiled(texts: Sequence[bytes]) -> set[str]:
    """The names in the texts of a program that stand together with those of ANCHORS."""
    found = set[str]()
    for anchor in ANCHORS:
        at = texts.index(anchor)
        first = next(place for place in range(at, -1, -1) if not NAME.fullmatch(texts[place])) + 1
        last = next(place for place in range(at, len(texts)) if not NAME.fullmatch(texts[place]))
        found |= {text.decode() for text in texts[first:last]}
    return {name for name in found if not NO_EVENTS.fullmatch(name)}


def _usual(kind: str, name: str) -> str:
    """A name as the mapping spells it."""
    known = wait_events().get((kind, name.lower()))
    return known.event if known else name


def listed(known: str, versions: dict[int, Events]) -> str:
    """The list as its file has it, with what these versions have; what it says of other versions stays."""
    told = csv.DictReader(io.StringIO(known))
    rows = {(row["type"], row["event"]): set(map(int, row["versions"].split())) for row in told}
    for have in rows.values():
        have.difference_update(versions)
    for version, events in versions.items():
        for event in events:
            rows.setdefault(event, set()).add(version)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    kept = sorted((event, have) for event, have in rows.items() if have)
    writer.writerows((*event, " ".join(map(str, sorted(have)))) for event, have in kept)
    return out.getvalue()


def main() -> int:
    """Ask the versions one after the other, renew the list, and print what the mapping lacks."""
    given = arguments(__doc__, sorted({*FROM_NPM, PACKAGED}))
    versions = dict[int, Events]()
    for version in sorted(given.versions):
        with running_postgres(version) as server:
            versions[version] = told(server)
    before = LIST.read_text(encoding="utf-8") if LIST.exists() else ""
    after = listed(before, versions)
    if given.write:
        LIST.write_text(after, encoding="utf-8")
    sys.stdout.writelines(difflib.unified_diff(*(text.splitlines(keepends=True) for text in (before, after)), n=0))
    events = {event for known in versions.values() for event in known}
    lacking = sorted(event for event in events if (event[0], event[1].lower()) not in wait_events())
    print("\n".join(f"missing: {kind or '?'} {name}" for kind, name in lacking))
    return 1 if lacking or (before != after and not given.write) else 0


if __name__ == "__main__":
    sys.exit(main())
