"""What lint says of healthy servers beside what the advisors of today say of them.

    .venv/bin/python benchmarks/lint/lint_peers.py --postgresqltuner PATH [--programs /path/to/postgresql-18/bin]

The servers are private, one stock, one tuned for this machine by its own documentation; both run a light load that is
recorded for some seconds. Every line that a peer marks as bad, a warning or an advice is printed, and every violation
that is ours. Which of them are true is a matter of judgement: docs/reference/lint-accuracy.md has it, with reasons.

postgresqltuner is a Perl script of https://github.com/jfcoz/postgresqltuner; it needs `apt-get install libdbd-pg-perl`.
Needs root. About a minute.
"""

import argparse
import logging
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from lint_faults import violations
from lint_postgres import DEBIAN, STOCK, Load, recorded, server_of, tuned

from doctord.lab.server import DATABASE, PrivateServer
from doctord.report import phrases

LIGHT = Load(rate_per_s=100)
SAID = re.compile(r"^\[(BAD|WARN|MEDIUM|HIGH|LOW|URGENT)\s*\]\s*(.*)$")


def main() -> None:
    """Print what each says of each server."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--postgresqltuner", type=Path, required=True, help="the Perl script")
    parser.add_argument("--programs", type=Path, default=DEBIAN, help="folder of PostgreSQL's programs")
    arguments = parser.parse_args()
    logging.getLogger("doctord").setLevel(logging.ERROR)
    for name, settings in (("stock", STOCK), ("tuned", tuned())):
        with server_of(arguments.programs, settings) as server:
            ours = [
                f"{one.severity.word}: {phrases.said(one.title)}: {phrases.said(one.cost)}"
                for one in violations(recorded(server, LIGHT))
            ]
            print_list(f"PostgreSQL, {name}: doctord", ours)
            print_list(f"PostgreSQL, {name}: postgresqltuner", list(postgresqltuner(arguments.postgresqltuner, server)))


def postgresqltuner(script: Path, server: PrivateServer) -> Iterator[str]:
    """The lines of postgresqltuner that find fault."""
    where = ["--host", str(server.folder), "--port", str(server.port), "--user", "postgres", "--database", DATABASE]
    command = ["perl", str(script), *where, "--nocolor"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    for line in done.stdout.splitlines():
        if found := SAID.match(line.strip()):
            yield f"{found[1].lower()}: {found[2]}"


def print_list(title: str, lines: list[str]) -> None:
    """A title with how many lines there are, and the lines."""
    print(f"\n## {title}: {len(lines)}")
    for line in lines:
        print(f"- {line}")


if __name__ == "__main__":
    main()
