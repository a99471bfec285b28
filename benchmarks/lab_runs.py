"""What the benchmarks of the lab share: their options, runs as lines of JSON, and what each of their pages says."""

import argparse
import json
import os
import platform
import subprocess
from collections.abc import Mapping
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any

from doctord.diagnose import engine
from doctord.diagnose.finding import Diagnosis
from doctord.lab.binaries import find_binaries, version_of
from doctord.lake.query import Lake

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs/reference"
Run = dict[str, Any]
# A lake is asked for what comes after a moment.
JUST_BEFORE = timedelta(microseconds=1)


def parser(documentation: str | None, lines: str, page: str) -> argparse.ArgumentParser:
    """Options of all of them; the runs are in the file `lines` of a folder, the table in a page of the reference."""
    options = argparse.ArgumentParser(description=documentation, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--for", dest="window", default="20s", help="length of a check-up (default 20s)")
    options.add_argument("--out", type=Path, required=True, help=f"folder for {lines}")
    options.add_argument("--again", action="store_true", help="judge the recordings of the runs in OUT; no new ones")
    options.add_argument("--table", type=Path, default=REFERENCE / page, help="page to write")
    return options


def keep(run: Run, lines: Path) -> None:
    """Append a run."""
    with lines.open("a") as file:
        file.write(json.dumps(run) + "\n")


def kept(lines: Path) -> list[Run]:
    """All runs, of calls before this one too."""
    return [json.loads(line) for line in lines.read_text().splitlines()]


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


def current_commit() -> str:
    """The commit of today; with `-dirty` behind where files differ from it."""
    return git("describe", "--always", "--dirty", "--exclude=*").stdout.strip()


def git(*words: str) -> subprocess.CompletedProcess[str]:
    """What git says of this repository."""
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False)
