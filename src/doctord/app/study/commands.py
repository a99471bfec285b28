"""Two commands run in turn, in pairs whose order changes (ABBA), so that what drifts meanwhile falls on both alike."""

import resource
import shlex
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from doctord.analyse.study.measure import Key, Measure
from doctord.analyse.study.runs import TOTAL
from doctord.analyse.study.samples import FEWEST_RUNS, Samples
from doctord.analyse.study.verdict import of_runs
from doctord.app.study.study import Question, Study, judged_parts
from doctord.app.watcher import SILENT, Watcher
from doctord.errors import UserError

MOST_PAIRS: Final = 1000
CPU: Final = Key("run", "CPU time")
Run = tuple[float, float]  # seconds by the clock, and of CPU, with all children that ended


def of_commands(
    commands: tuple[str, str], pairs: int, limit_s: float, question: Question, watcher: Watcher = SILENT
) -> Study:
    """Run both commands so many times, and hold the second against the first.

    The order is AB, BA, AB, ...: who comes first in a pair is who came second in the one before.

    Args:
        commands: As a shell would be given them; they run without one.
        pairs: How many times each is run.
        limit_s: How long one run may take.
        question: Targets, and what may get worse.
        watcher: Who is told how far it is.

    Raises:
        UserError: a command cannot be started, fails, or takes too long; there are too few pairs or too many.
    """
    if not FEWEST_RUNS <= pairs <= MOST_PAIRS:
        raise UserError(
            f"--pairs {pairs} is too few or too many", f"from {FEWEST_RUNS} to {MOST_PAIRS}: fewer tell no interval"
        )
    words = {name: words_of(text) for name, text in zip("ab", commands, strict=True)}
    took: dict[str, list[Run]] = {name: [] for name in words}
    with watcher.progress("Running", 2 * pairs, "files") as progress:
        for done, name in enumerate(order(pairs), 1):
            took[name].append(timed(words[name], limit_s))
            progress(done, name)
    found = of_runs("a", _measures(took["a"]), "b", _measures(took["b"]))
    return judged_parts([("", [found])], question)


def order(pairs: int) -> Iterator[str]:
    """Who is run, in turn.

    >>> "".join(order(4))
    'abbaabba'
    """
    for pair in range(pairs):
        yield from ("ab", "ba")[pair % 2]


def words_of(text: str) -> list[str]:
    """A command in its words.

    Raises:
        UserError: it has none, or a quotation does not end.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UserError(f"{text!r} is no command: {error}", "quote it as a shell would want it") from error
    if not words:
        raise UserError("a command without words", "doctord study-run --a 'pgbench ...' --b 'pgbench ...'")
    return words


def timed(words: Sequence[str], limit_s: float) -> Run:
    """Run a command to its end, without its output: how long it took, and its CPU time.

    Raises:
        UserError: it cannot be started, fails, or takes longer than it may.
    """
    before, began = _children_cpu_s(), time.monotonic()
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=limit_s,
            check=False,
        )
    except OSError as error:
        raise UserError(f"{words[0]} cannot be started: {error.strerror}", "name a program that is there") from error
    except subprocess.TimeoutExpired as error:
        raise UserError(f"{words[0]} took longer than {limit_s:g} s", "allow it more: --timeout 10m") from error
    took_s, cpu_s = time.monotonic() - began, _children_cpu_s() - before
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        why = f": {last}" if last else ", and said nothing"
        raise UserError(f"{words[0]} ended with status {done.returncode}{why}", "a run that fails is no result")
    return took_s, cpu_s


def _children_cpu_s() -> float:
    """CPU time of all children that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _measures(runs: Sequence[Run]) -> list[Measure]:
    wall, cpu = (
        replace(Samples.of(np.array(column), 1.0, are_runs=True), are_pairs=True) for column in zip(*runs, strict=True)
    )
    return [Measure(TOTAL, "s", "low", wall), Measure(CPU, "s", "low", cpu)]
