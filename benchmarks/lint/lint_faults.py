"""Whether lint finds what settings get wrong, put into private PostgreSQL servers under a short load.

    .venv/bin/python benchmarks/lint/lint_faults.py [--programs /path/to/postgresql-18/bin]

Each fault is one or two settings beside those of a server that is tuned for this machine; the server runs pgbench for
some seconds while doctord's own collectors look. The table says whether the rule was found, how bad it is said to be,
its cost, and whatever else was said above a note, which would be false. About three minutes. Needs root.
"""

import argparse
import logging
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lint_postgres import DEBIAN, READS, STOCK, Load, recorded, server_of, tuned

from doctord.dataset.dataset import Dataset
from doctord.lint import engine
from doctord.lint.violation import Severity, Violation
from doctord.read.formats import read_file
from doctord.report import phrases

AT_WORK, PACED = Load(), Load(rate_per_s=100)


@dataclass(frozen=True, slots=True)
class Fault:
    """Settings that are wrong, the rule that is to find them, and the load that shows it."""

    name: str
    settings: dict[str, str]
    rule: str | None
    load: Load = AT_WORK


HEALTHY = (
    Fault("none: tuned, at work", {}, None),
    Fault("none: tuned, little to do", {}, None, PACED),
)
FAULTS = (
    Fault("tiny WAL", {"max_wal_size": "32MB", "min_wal_size": "32MB"}, "max_wal_size_small"),
    Fault("tiny buffers", {"shared_buffers": "1MB"}, "shared_buffers_tiny", Load(READS)),
    Fault("fsync off", {"fsync": "off"}, "fsync_off"),
    Fault("synchronous_commit off", {"synchronous_commit": "off"}, "synchronous_commit_off"),
    Fault("max_connections too small", {"max_connections": "12"}, "max_connections_reached", Load(READS, clients=8)),
    Fault("work_mem too large", {"work_mem": "2GB"}, "work_mem_overcommitted"),
    Fault("autovacuum off", {"autovacuum": "off"}, "autovacuum_off"),
    Fault("huge pages missing", {"max_connections": "300", "work_mem": "4MB"}, "huge_pages_unused", PACED),
)
# With this one the server does not start: files alone tell it.
IN_FILES = Fault("huge_pages = on, none there (files)", {"huge_pages": "on"}, "huge_pages_not_there")


def main() -> None:
    """Print a table of all faults."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path, default=DEBIAN, help="folder of PostgreSQL's programs")
    arguments = parser.parse_args()
    logging.getLogger("doctord").setLevel(logging.ERROR)
    print("| fault | found | severity, impact | cost | false, above a note |")
    print("|---|---|---|---|---|")
    for fault in (*HEALTHY, *FAULTS):
        with server_of(arguments.programs, {**tuned(), **fault.settings}) as server:
            print(line(fault, violations(recorded(server, fault.load))), flush=True)
    with server_of(arguments.programs, STOCK) as server:
        print(line(Fault("none: stock, at work", {}, None), violations(recorded(server, Load()))), flush=True)
    print(line(IN_FILES, in_files({**tuned(), **IN_FILES.settings})))


def in_files(settings: Mapping[str, str]) -> list[Violation]:
    """What lint says of a postgresql.conf with these settings, and of this host's memory."""
    with tempfile.TemporaryDirectory(prefix="doctord-lint-") as name:
        file = Path(name) / "postgresql.conf"
        file.write_text("".join(f"{name} = '{value}'\n" for name, value in settings.items()), encoding="utf-8")
        datasets = [Dataset.from_batches(read_file(path).batches) for path in (file, Path("/proc/meminfo"))]
    return violations(Dataset.joined(datasets))


def violations(dataset: Dataset) -> list[Violation]:
    """What lint says of PostgreSQL."""
    return [one for one in engine.examine(dataset).violations if one.rule.startswith("postgresql/")]


def line(fault: Fault, said: list[Violation]) -> str:
    """A line of the table."""
    found = next((one for one in said if one.rule == f"postgresql/{fault.rule}"), None)
    worse = [one for one in said if one is not found and one.severity > Severity.NOTE]
    others = [f"{one.rule.partition('/')[2]}: {phrases.said(one.cost)}" for one in worse]
    if found is None:
        shown = ("-", "-", "-") if fault.rule is None else ("no", "-", "-")
    else:
        impact = "" if found.impact is None else f", {found.impact:.0%}"
        shown = ("yes", f"{found.severity.word}{impact}", phrases.said(found.cost))
    return f"| {fault.name} | {' | '.join(shown)} | {'; '.join(others) or 'nothing'} |"


if __name__ == "__main__":
    main()
