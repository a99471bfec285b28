"""What lab_accuracy.py writes: how often the check-up names the injected fault, from the rows of its runs."""

import itertools
import math
import statistics
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from lab_runs import Run, counted, left_out, light_load, machine

from doctord.lab.effect import LATENCY_GROWS, THROUGHPUT_FALLS
from doctord.lab.fault import Fault, all_faults
from doctord.lab.host.disk import STANDS_STILL_MS
from doctord.lab.load.workload import LOADS
from doctord.report.wording import CONFIDENCE

# First, and no cause: that nobody explains a wait, and what to collect. It counts as honest, never as right.
UNEXPLAINED = "other_waits"
HEAD = (
    "fault",
    "intensity",
    "load",
    "server",
    "cause",
    "runs",
    "named first",
    "honest",
    "no case",
    "first instead",
    "also named",
    "light load",
)


def page(runs: list[Run], window: str) -> str:
    """The page of the reference: what was run where, and the table."""
    today = counted(runs)
    return f"""\
# How often the check-up names the injected fault

Made by `benchmarks/lab_accuracy.py` on {datetime.now(UTC):%Y-%m-%d} of [its runs](lab-accuracy-runs.jsonl); do not
edit. Each run is `doctord lab run FAULT --intensity INTENSITY --load LOAD --diagnose --for {window}` of
[the lab](../how-to/lab.md). To go on with it, as root, on a machine that does nothing else meanwhile, and to judge what
was recorded by changed causes:

```
.venv/bin/python benchmarks/lab_accuracy.py --square --minutes 30
.venv/bin/python benchmarks/lab_accuracy.py --again
```

The target: the injected cause first in at least 9 of 10 runs of each fault, and no finding in 10 of 10 healthy runs.

{machine()}
{_folders(today)}

{left_out(runs)}

**{_tally(today)}**

*Named first* counts the runs in which the first finding was the injected cause; for `none`, those without any finding.
*Honest* are those in which it was `other_waits`: a wait that no cause explains, with what to collect. *First instead*
and *also named* list the other causes, with the number of runs. *Light load* is what pgbench reported of the paced load
of 100 transactions per second, median over the runs, before the fault and during it.

A run in which the injection took no effect is no case: it stands under *no case* and below the table, and counts
nowhere else. It took effect where the light load became {LATENCY_GROWS:g} times as slow, or fell to
{THROUGHPUT_FALLS:g} of its throughput; or, where the fault names a figure of the server that shows it instead, where
that has risen as far as the fault says. Where it was not measured (runs of before it was) the run counts.

Nor is a run a case in which the machine's own disk stood still: beside the server the lab writes and syncs a block ten
times a second, and one such write took {STANDS_STILL_MS:g} ms or longer before the fault. What was said of it stands
below the table. One that stands still later counts, whatever is named: the fault itself may be why.

{table(today)}

{not_run(today)}

{without_effect(today)}

{disk_stood_still(today)}

{calibration(today)}
{_older([run for run in runs if run not in today])}"""


def _folders(runs: list[Run]) -> str:
    """Where the servers lay, where that is known."""
    counts = Counter(run["folder"] for run in runs if run.get("folder"))
    if not counts:
        return ""
    told = ", ".join(f"in {folder} {count}" for folder, count in counts.most_common())
    return f"Servers of the lab lay {told} ([how the lab is kept off a disk that stands still](../how-to/lab.md))."


def _tally(runs: list[Run]) -> str:
    cases = [run for run in runs if not run.get("skipped") and is_case(run)]
    right = sum(bool(run.get("correct")) for run in cases)
    names = {run["fault"] for run in cases}
    return f"Right in {right} of {len(cases)} runs, of {len(names)} of {len(all_faults())} faults and healthy runs."


def _older(runs: list[Run]) -> str:
    """The runs that do not count, as a table of their own."""
    if not runs:
        return ""
    days = sorted({run["at"][:10] for run in runs})
    when = " to ".join(dict.fromkeys((days[0], days[-1])))
    return f"\n## Judged by older code ({when})\n\n{table(runs)}\n"


def table(runs: list[Run]) -> str:
    """One row for each fault, load, version of the server and intensity that was run."""
    lines = [f"| {' | '.join(HEAD)} |", "|---" * len(HEAD) + "|"]
    return "\n".join(lines + [row for fault in all_faults().values() for row in _rows(fault, runs)])


def not_run(runs: list[Run]) -> str:
    """The faults that nobody has run."""
    names = [name for name in all_faults() if name not in {run["fault"] for run in runs}]
    return f"Not run: {', '.join(map(_code, names))}." if names else "All faults were run."


def without_effect(runs: list[Run]) -> str:
    """The runs that are no case, each with what the injection was to take."""
    lines = [f"- {_what(run)}: {_measured(run['effect'])}" for run in runs if not took_effect(run)]
    return "\n".join(["Without effect:", "", *lines]) if lines else "No run was without effect."


def disk_stood_still(runs: list[Run]) -> str:
    """The runs that are no case because of the machine's own disk, each with what was named first."""
    lines = [f"- {_what(run)}: {_slowest(run['disk'])}; first: {_named_first(run)}" for run in runs if stood_still(run)]
    return "\n".join(["The disk stood still:", "", *lines]) if lines else "The disk stood still in no run."


def calibration(runs: list[Run]) -> str:
    """How sure the first findings were, beside how often they were right: by words of confidence, and by fault.

    Runs of one fault are not independent of each other: a fault counts once in the second bound, and as right where all
    of its runs are. Bounds: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", 1927.
    """
    cases = [run for run in runs if is_case(run) and run.get("confidence")]
    if not cases:
        return "No run had a finding."
    lines = ["| first findings stated | runs | mean stated | right | 95 % interval |", "|---|---|---|---|---|"]
    off = 0.0
    for _, words in CONFIDENCE:
        own = [run for run in cases if _words(run) == words]
        if not own:
            continue
        right = sum(bool(run["correct"]) for run in own)
        stated = statistics.mean(run["confidence"] for run in own)
        lines.append(_line_of(words, len(own), stated, right))
        off += abs(len(own) * stated - right) / len(cases)
    faults = {run["fault"] for run in cases}
    sound = sum(all(run["correct"] for run in cases if run["fault"] == name) for name in faults)
    low, high = wilson(sound, len(faults))
    told = (
        f"Calibration: expected error over these {off:.2f}. Of {len(faults)} faults {sound} were right in all of their"
    )
    return "\n".join([*lines, "", f"{told} runs: {low:.0%} to {high:.0%} are to be expected of faults like these."])


def _line_of(words: str, count: int, stated: float, right: int) -> str:
    low, high = wilson(right, count)
    return f"| {words} | {count} | {stated:.0%} | {right / count:.0%} | {low:.0%} to {high:.0%} |"


def _words(run: Run) -> str:
    return next(words for least, words in CONFIDENCE if run["confidence"] >= least)


def wilson(right: int, count: int) -> tuple[float, float]:
    """The interval of a share, 95 %.

    >>> [round(end, 2) for end in wilson(24, 24)]
    [0.86, 1.0]
    """
    share, z = right / count, 1.96
    middle = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    half = z / (1 + z**2 / count) * math.sqrt(share * (1 - share) / count + z**2 / (4 * count**2))
    return max(0.0, middle - half), min(1.0, middle + half)


def is_case(run: Run) -> bool:
    """Whether a run says something about the fault that was injected."""
    return took_effect(run) and not stood_still(run)


def stood_still(run: Run) -> bool:
    """Whether the machine's own disk kept everybody waiting before the fault; not, where nobody measured it."""
    return bool((run.get("disk") or {}).get("stood_still"))


def took_effect(run: Run) -> bool:
    """Whether the injection took effect, or nobody measured whether it did."""
    effect = run.get("effect")
    return effect is None or bool(effect["found"])


def progress(run: Run) -> str:
    """A line about a run, for who waits for it."""
    verdict = "failed" if run["error"] else "skipped" if run.get("skipped") else _named_first(run)
    mark = "" if run.get("correct") or run.get("skipped") else "  <- wrong"
    no_case = "  <- the disk stood still" if stood_still(run) else "" if took_effect(run) else "  <- no effect"
    said = no_case or mark
    return f"{_what(run)}: {verdict}{said} ({run['took_s']} s; all: {', '.join(causes(run)) or 'no finding'})"


def causes(run: Run) -> list[str]:
    """The causes of the findings, worst first."""
    return list(run.get("named", []))


def _rows(fault: Fault, runs: list[Run]) -> list[str]:
    own = [run for run in runs if run["fault"] == fault.name]
    servers = sorted({_major(run) for run in own})
    parts = itertools.product(LOADS, servers, fault.intensities)
    return [
        _row(fault, (intensity, load, server), mine)
        for load, server, intensity in parts
        if (mine := [run for run in own if (run["intensity"], run["load"], _major(run)) == (intensity, load, server)])
    ]


def _major(run: Run) -> str:
    return str(run["server"]).partition(".")[0]


def _row(fault: Fault, part: tuple[str, str, str], all_runs: list[Run]) -> str:
    begin = (f"`{fault.name}`", *part, _code(fault.cause))
    done = [run for run in all_runs if not run.get("skipped")]
    if not done:
        return _line(*begin, "skipped")
    runs = [run for run in done if is_case(run)]
    correct = sum(bool(run.get("correct")) for run in runs)
    wrong = Counter(_named_first(run) for run in runs if not run.get("correct"))
    honest = wrong.pop(UNEXPLAINED, 0)
    others = Counter(
        cause for run in runs for cause in causes(run) if cause not in {fault.cause, run.get("first_cause")}
    )
    numbers = [str(number) for number in (len(runs), correct, honest, len(done) - len(runs))]
    return _line(*begin, *numbers, _counted(wrong), _counted(others), _load(done))


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells + ('',) * (len(HEAD) - len(cells)))} |"


def _named_first(run: Run) -> str:
    return "failed" if run.get("error") else run["first_cause"] or "nothing"


def _what(run: Run) -> str:
    return f"`{run['fault']}` {run['intensity']} ({run['load']})"


def _measured(effect: dict[str, Any]) -> str:
    before = "not there" if effect["before"] is None else f"{effect['before']:g}"
    values = f"{before} → {effect['during']:g} {effect['unit']}"
    return f"{effect['what']} {values}, where {effect['threshold']:.3g} counts"


def _slowest(disk: dict[str, Any]) -> str:
    when = {"before": disk["before_ms"], "during it": disk["during_ms"]}
    told = [f"{slowest_ms:.0f} ms {when}" for when, slowest_ms in when.items() if slowest_ms is not None]
    return f"the slowest synced write took {' and '.join(told)}"


def _counted(named: Counter[str]) -> str:
    return ", ".join(f"{_code(cause)} {count}" for cause, count in named.most_common())


def _code(cause: str | None) -> str:
    return f"`{cause}`" if cause else "none"


def _load(runs: list[Run]) -> str:
    before, during = (_median_pace(run["throughput"][when] for run in runs if run.get("throughput")) for when in _WHEN)
    return f"{before} → {during}"


_WHEN = ("before", "during")


def _median_pace(paces: Iterable[dict[str, float | None] | None]) -> str:
    measured = [pace for pace in paces if pace]
    if not measured:
        return light_load(None)
    tps = statistics.median(pace["tps"] or 0.0 for pace in measured)
    latencies = [pace["latency_ms"] for pace in measured if pace["latency_ms"] is not None]
    return light_load({"tps": tps, "latency_ms": statistics.median(latencies) if latencies else None})
