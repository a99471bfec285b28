"""What every command answers to every file of corpus and casebook, kept to be compared with what it answers later.

    .venv/bin/python tests/every_answer.py /var/tmp/before
    ... a change of how it is done, not of what is said ...
    .venv/bin/python tests/every_answer.py /var/tmp/after && diff -r /var/tmp/before /var/tmp/after

A file for each: the JSON document (keys sorted), else what was said instead; then the exit status.
"""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from typer.testing import CliRunner

from doctord.cli import app, load

COMMANDS = ("read", "diagnose", "trace", "lint", "forecast", "map", "profile")
SIZES = ("huge-pages", "page-tables", "tlb", "redo", "wal", "queue-depth", "disks", "work-memory", "buffer-cache")


def questions() -> Iterator[tuple[str, Path]]:
    """Commands, and what each is asked about."""
    for root in (Path(os.environ["DOCTORD_CORPUS"]), Path(os.environ["DOCTORD_CASEBOOK"])):
        for folder in sorted(path for path in root.iterdir() if path.is_dir()):
            yield from ((command, folder) for command in COMMANDS)
            yield from ((f"size {question}", folder) for question in SIZES)
            yield from ((command, path) for path in sorted(folder.rglob("*")) for command in COMMANDS)


def answer(question: tuple[str, Path]) -> str:
    """One document."""
    command, path = question
    result = CliRunner().invoke(app, [*command.split(), str(path), "--json"])
    try:
        said = json.dumps(json.loads(result.stdout), indent=1, sort_keys=True, ensure_ascii=False)
    except ValueError:
        said = f"{result.stdout}{result.stderr}"
    return f"{said}\nexit status {result.exit_code}\n"


def main(arguments: Sequence[str]) -> None:
    """Ask everything, in as many processes as there are CPUs."""
    (kept,) = map(Path, arguments)
    asked = list(questions())
    with ProcessPoolExecutor(initializer=load) as processes:
        for (command, path), said in zip(asked, processes.map(answer, asked, chunksize=4), strict=True):
            target = kept / command.replace(" ", "-") / f"{'-'.join(path.parts[-3:])}.txt"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(said)


if __name__ == "__main__":
    main(sys.argv[1:])
