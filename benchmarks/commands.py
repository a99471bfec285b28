"""What common commands cost in CPU time, beside the same commands of another checkout of this repository.

    .venv/bin/python benchmarks/commands.py --before ../doctord-of-before

Both checkouts have their .venv; their modules are compiled first. Inputs are the corpus' own, some of them several
times over. The two take turns, each command a process of its own; the first run of each does not count. Medians of
CPU time (user and system, children included), by which a busy machine disturbs least.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from reading import sa_day, trace_log

CORPUS = Path(os.environ.get("DOCTORD_CORPUS", "../shared/corpus"))
HERE = Path(__file__).parents[1]


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--before", type=Path, required=True, help="another checkout, with its .venv")
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    for folder in (HERE, arguments.before):
        subprocess.run([folder / ".venv/bin/python", "-m", "compileall", "-q", folder / "src"], check=False)
    with tempfile.TemporaryDirectory(prefix="doctord-commands-", dir="/var/tmp") as name:
        print("| command | before, s | now, s | now / before |\n|---|---|---|---|")
        for what, command in commands(Path(name)).items():
            before, now = measured(command, (arguments.before, HERE), arguments.rounds)
            print(f"| {what} | {before:.2f} | {now:.2f} | {now / before:.2f} |", flush=True)


def commands(folder: Path) -> dict[str, list[str]]:
    """What is measured, by what it is called; large inputs are made in the folder."""
    day, text, log, calls = (folder / name for name in ("day", "sar.txt", "postgresql.log", "trace.log"))
    sa_day.write(sa_day.read(CORPUS / "testbed/sa_1s_60.bin"), day, 10)
    with text.open("wb") as out:
        subprocess.run(["sar", "-A", "-f", day], check=True, stdout=out, env=os.environ | {"LC_ALL": "C", "TZ": "UTC"})
    log.write_bytes((CORPUS / "testbed/pg_log_3MB.txt").read_bytes() * 16)
    trace_log.repeat((CORPUS / "testbed/pg_f_ttt_T_4MB.txt").read_bytes(), calls, 500_000_000)
    awr = CORPUS / "awr/Azure_AWR_DBZ.html"
    return {
        "`--help`": ["--help"],
        f"`read` of sar's text, {megabytes(text)}": ["read", str(text)],
        f"`read` of a binary day of sysstat, {megabytes(day)}": ["read", str(day)],
        f"`read` of a log of PostgreSQL, {megabytes(log)}": ["read", str(log)],
        f"`read` of an AWR page, {megabytes(awr)}": ["read", str(awr)],
        f"`diagnose` of it, {megabytes(awr)}": ["diagnose", "--json", str(awr)],
        f"`map` of block I/O, {megabytes(CORPUS / 'testbed/blk_tracer_vda.txt')}": [
            *("map", "--json", str(CORPUS / "testbed/blk_tracer_vda.txt")),
        ],
        f"`trace` of calls, {megabytes(calls)}": ["trace", "--json", str(calls)],
    }


def megabytes(file: Path) -> str:
    """The size of a file, in words."""
    return f"{file.stat().st_size / 1e6:.0f} MB"


def measured(command: list[str], checkouts: tuple[Path, Path], rounds: int) -> tuple[float, float]:
    """Median CPU seconds of a command in each checkout."""
    spent: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds + 1):
        for checkout, seconds in zip(checkouts, spent, strict=True):
            seconds.append(cpu_s([str(checkout / ".venv/bin/doctord"), *command]))
    return statistics.median(spent[0][1:]), statistics.median(spent[1][1:])


def cpu_s(command: list[str]) -> float:
    """CPU seconds of a process and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    run = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False, env=environment)
    if run.returncode > 2:
        sys.exit(f"{' '.join(command)}: {run.stderr.decode()}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
