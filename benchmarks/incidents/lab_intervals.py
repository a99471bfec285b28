"""Incidents of the lab, recorded with the time before and after: found without being told, and known again.

    .venv/bin/python benchmarks/incidents/lab_intervals.py --out /var/tmp/lab-intervals [--faults row_lock_convoy,...]

Each fault is recorded once under each of two loads: a minute of health, the fault, a minute of health; about three
minutes a recording, kept in OUT/FAULT-LOAD. `--again` leaves out what is recorded already, and judges all. A recording
of one load is the teacher, and that of the other is asked: the interval that `doctord diagnose --find` would find, what
it resembles, and what of it with the fault's own incident left out. Writes docs/reference/incidents-lab.md. Needs root
for some faults, and a machine that does nothing else.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from doctord.analyse.incidents.figures import NEEDS, Figures, figures_of
from doctord.analyse.incidents.likeness import ALIKE, likeness
from doctord.analyse.incidents.scan import bad_intervals
from doctord.analyse.incidents.signature import Signature, signature_of
from doctord.app.source import Recorded
from doctord.lab.dose import MODERATE
from doctord.lab.errors import LabError
from doctord.lab.fault import all_faults
from doctord.lab.run import loaded_server

PAGE: Final = Path(__file__).parents[2] / "docs" / "reference" / "incidents-lab.md"
FAULTS: Final = (
    "row_lock_convoy", "missing_index", "cpu_hog", "cartesian_joins", "checkpoint_storm", "connection_churn",
    "jit_everything", "work_mem_spill", "cpu_quota", "notify_commits",
)  # fmt: skip
LOADS: Final = ("tpcb", "orders")
HEALTHY_S: Final = 60.0
ILL_S: Final = 30.0
A_DAY: Final = timedelta(days=1)
LABEL: Final = "fault.json"


@dataclass(frozen=True, eq=False)
class Incident:
    """One recording: its fault and load, its figures, when the fault was there, and what was found."""

    fault: str
    load: str
    figures: Figures
    labelled: tuple[int, int]
    found: tuple[int, int] | None
    intervals: int

    @property
    def overlap(self) -> float:
        """Intersection over union of what was found first with what was injected."""
        if self.found is None:
            return 0.0
        both = max(0, min(self.labelled[1], self.found[1]) - max(self.labelled[0], self.found[0]))
        return both / (self.labelled[1] - self.labelled[0] + self.found[1] - self.found[0] - both)

    @property
    def signature(self) -> Signature:
        """Of what was found, where something was."""
        return signature_of(self.figures, *self.found) if self.found else {}


def main() -> None:
    """Record what is not there, and judge all."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--out", type=Path, required=True, help="where recordings are kept")
    options.add_argument("--faults", default=",".join(FAULTS), help="names separated by commas")
    options.add_argument("--again", action="store_true", help="record nothing")
    arguments = options.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for fault in arguments.faults.split(",") if not arguments.again else ():
        for load in LOADS:
            place = arguments.out / f"{fault}-{load}"
            if not (place / LABEL).exists():
                print(f"{place.name}: {record(fault, load, place)}", flush=True)
    text = "\n".join(page(list(incidents(arguments.out))))
    PAGE.write_text(text + "\n")
    print(text)


def record(fault: str, load: str, place: Path) -> str:
    """One recording; what became of it."""
    chosen = all_faults()[fault]
    doctord = Path(sys.executable).with_name("doctord")
    try:
        with loaded_server(chosen, MODERATE, load, None) as (server, _):  # type: ignore[arg-type]
            recorder = subprocess.Popen(
                [doctord, "record", "--lake", place, "--dsn", server.dsn],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
            try:
                time.sleep(HEALTHY_S)
                begun = time.time()
                with chosen.inject(server, MODERATE):
                    time.sleep(chosen.warm_up_s + ILL_S)
                ended = time.time()
                time.sleep(HEALTHY_S)
            finally:
                recorder.terminate()
                said = recorder.communicate(timeout=30)[1].decode()[-300:]
    except LabError as error:
        return f"not recorded: {error}"
    if recorder.returncode not in {0, -15}:
        return f"the recorder ended with {recorder.returncode}: {said}"
    (place / LABEL).write_text(json.dumps({"fault": fault, "load": load, "since_s": begun, "until_s": ended}))
    return f"{ended - begun:.0f} s"


def incidents(out: Path) -> Iterator[Incident]:
    """What is there, searched."""
    for path in sorted(out.glob(f"*/{LABEL}")):
        told = json.loads(path.read_text())
        source = Recorded(path.parent)
        figures = figures_of(source.seen(source.newest(A_DAY), where=NEEDS).dataset)
        if figures is None:
            continue
        found = sorted(bad_intervals(figures), key=lambda one: -(one.times or float("inf")))
        labelled = (figures.place(told["since_s"]), figures.place(told["until_s"]))
        first = (found[0].begin, found[0].end) if found else None
        yield Incident(told["fault"], told["load"], figures, labelled, first, len(found))


def page(there: list[Incident]) -> Iterator[str]:
    """The tables."""
    yield "# Incidents of the lab, found and known again"
    yield ""
    yield f"Made by `benchmarks/incidents/lab_intervals.py` on {datetime.now(UTC):%F}; do not edit."
    yield ""
    yield f"A minute of health, the fault for {ILL_S:.0f} s and its warm-up, a minute of health, under two loads. The"
    yield "library holds the incidents of the other load alone, one of each fault."
    yield ""
    yield "| fault | load | overlap (IoU) | other intervals | most alike of the other load | alike | without its own |"
    yield "|---|---|---|---|---|---|---|"
    right = 0
    for one in there:
        library = [other for other in there if other.load != one.load and other.found]
        ranked = likeness(one.signature, [other.signature for other in library])
        names = [library[known.place].fault for known in ranked]
        first = f"`{names[0]}`" if names else ""
        alike = f"{ranked[0].alike:.2f}" if ranked else ""
        others = next((known.alike for known, name in zip(ranked, names, strict=True) if name != one.fault), None)
        right += bool(names and names[0] == one.fault)
        yield (
            f"| `{one.fault}` | {one.load} | {one.overlap:.2f} | {max(0, one.intervals - 1)} | {first} | {alike} | "
            f"{'' if others is None else f'{others:.2f}'} |"
        )
    yield ""
    overlaps = sorted(one.overlap for one in there)
    median = overlaps[len(overlaps) // 2] if overlaps else 0.0
    yield f"Median overlap {median:.2f} (0.85 is wanted); the other load's own fault first: {right} of {len(there)};"
    yield f"an incident is said to be alike from {ALIKE} on."


if __name__ == "__main__":
    main()
