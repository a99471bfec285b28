"""What the benchmarks of the lab share: their options, runs as committed rows, and what each of their pages says.

Each run is a line of JSON in docs/reference/PAGE-runs.jsonl, from which the page is made. A row says by which code it
was judged (a hash of the folders that judge); it counts while that is the code of today.
"""

import argparse
import hashlib
import json
import os
import platform
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from doctord.app.lab import first_cause
from doctord.diagnose import engine
from doctord.diagnose.finding import Diagnosis
from doctord.lab.binaries import find_binaries, version_of
from doctord.lake.query import Lake
from doctord.report.diagnosis.document import document

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs/reference"
Run = dict[str, Any]
# A lake is asked for what comes after a moment.
JUST_BEFORE = timedelta(microseconds=1)
# What a verdict comes from; what the lab does to a server is told by the run itself.
JUDGING = ("collect", "analyse", "diagnose")
# In those folders, but never in the verdict on a PostgreSQL of the lab.
NOT_JUDGING = (
    "collect/mysql",
    "collect/oracle",
    "analyse/incidents",
    "analyse/over_time",
    "analyse/stress",
    "analyse/study",
)
_AS_IT_IS = ("skipped", "throughput", "effect", "disk", "first_cause", "correct")


def parser(documentation: str | None, page: str) -> argparse.ArgumentParser:
    """Options of all of them, for a page of the reference and its rows."""
    options = argparse.ArgumentParser(description=documentation, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--for", dest="window", default="20s", help="length of a check-up (default 20s)")
    out = Path("/var/tmp", page)  # noqa: S108 - there after a restart, which /tmp is not
    options.add_argument("--out", type=Path, default=out, help=f"folder for recordings (default {out})")
    options.add_argument("--again", action="store_true", help="judge the recordings of the runs in OUT; no new ones")
    options.add_argument("--rows", type=Path, default=REFERENCE / f"{page}-runs.jsonl", help="file of the runs")
    options.add_argument("--table", type=Path, default=REFERENCE / f"{page}.md", help="page to write")
    return options


def keep(run: Run, rows: Path) -> None:
    """Append a run."""
    with rows.open("a") as file:
        file.write(_line(run))


def kept(rows: Path) -> list[Run]:
    """All runs, of calls before this one too."""
    return [json.loads(line) for line in rows.read_text().splitlines()] if rows.exists() else []


def keep_judged_again(
    rows: Path, again: Callable[[Run], Run], folder: Path, without: tuple[str, ...] = NOT_JUDGING
) -> list[Run]:
    """Judge the runs anew whose recordings are in a folder, and keep all of them: those, and the others as they are."""
    runs = [
        run | again(run) | judged_by(without) if run.get("lake") and (folder / run["lake"]).exists() else run
        for run in kept(rows)
    ]
    rows.write_text("".join(map(_line, runs)))
    return runs


def judged_by(without: tuple[str, ...] = NOT_JUDGING) -> Run:
    """What a row says of the code that judged it: the commit for readers, the hash for `counted`."""
    commit = git("describe", "--always", "--dirty", "--exclude=*").stdout.strip()
    return {"commit": commit, "code": judging_code(without)}


@cache
def judging_code(without: tuple[str, ...] = NOT_JUDGING) -> str:
    """A hash of the names and contents of all files that a verdict comes from; the folders `without` never do."""
    told = hashlib.sha256()
    for path in _judging_files(without):
        told.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return told.hexdigest()[:12]


def _judging_files(without: tuple[str, ...]) -> Iterator[Path]:
    package = ROOT / "src/doctord"
    elsewhere = [package / folder for folder in without]
    for folder in JUDGING:
        for path in sorted((package / folder).rglob("*")):
            if path.is_file() and path.parent.name != "__pycache__" and not any(map(path.is_relative_to, elsewhere)):
                yield path


def counted(runs: Iterable[Run], without: tuple[str, ...] = NOT_JUDGING) -> list[Run]:
    """The runs that were judged by the code of today."""
    return [run for run in runs if run["code"] == judging_code(without)]


def told_by_lab(told: dict[str, Any]) -> Run:
    """What a row keeps of what `doctord lab run --json` gives."""
    kept_as_it_is = {name: told[name] for name in _AS_IT_IS}
    return kept_as_it_is | _named(told["diagnosis"])


def judged_today(lake: Path, expected: str | None) -> Run:
    """What changes in a row where its recording is judged by the causes of today; `expected` is the injected cause."""
    diagnosis = judged_again(lake)
    first = first_cause(diagnosis)
    return {"first_cause": first, "correct": first == expected} | _named(document(diagnosis))


def _named(diagnosis: dict[str, Any] | None) -> Run:
    """The causes that a diagnosis names, worst first, and how sure it is of the first."""
    findings = diagnosis["findings"] if diagnosis else []
    named = list(dict.fromkeys(finding["cause"] for finding in findings))
    return {"named": named, "confidence": findings[0]["confidence"] if findings else None}


def left_out(runs: list[Run]) -> str:
    """How many runs do not count, in words."""
    older = len(runs) - len(counted(runs))
    return f"""\
A run counts while the code that judged it (src/doctord/{{{",".join(JUDGING)}}} without {", ".join(NOT_JUDGING)})
is that of today: {len(runs) - older} of {len(runs)} do, the other {older} stand at the end, as they were."""


def _line(run: Run) -> str:
    return json.dumps(run, ensure_ascii=False) + "\n"


def judged_again(lake: Path) -> Diagnosis:
    """What is diagnosed today from the recording of a run."""
    recording = Lake(lake)
    span = recording.span()
    assert span is not None, f"nothing was recorded in {lake}"
    return engine.diagnose(recording.dataset(span[0] - JUST_BEFORE, span[1]), servers=1)


def root_causes(diagnosis: Diagnosis) -> list[str]:
    """The causes of the findings above a note that nothing else explains, each once, worst first."""
    roots = [one.cause for one in diagnosis.findings if one.severity != "note" and one.explained_by is None]
    return list(dict.fromkeys(roots))


def light_load(pace: Mapping[str, float | None] | None) -> str:
    """The pace of the light load, in words."""
    if pace is None:
        return "not reported"
    latency = "" if pace["latency_ms"] is None else f" at {pace['latency_ms']:.1f} ms"
    return f"{pace['tps']:.0f}/s{latency}"


def machine() -> str:
    """What the runs were made on."""
    memory_gib = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    return (
        f"Machine: {os.cpu_count()} CPUs, {memory_gib:.0f} GiB, Linux {platform.release()}. "
        f"PostgreSQL {version_of(find_binaries())}, Python {platform.python_version()}, doctord {version('doctord')}."
    )


def git(*words: str) -> subprocess.CompletedProcess[str]:
    """What git says of this repository."""
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False)
