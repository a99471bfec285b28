"""Inject a fault into a private server, and diagnose it, or leave somebody the time to look."""

import difflib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from doctord.app.diagnose import diagnose
from doctord.app.source import Live
from doctord.app.watcher import SILENT, Watcher
from doctord.diagnose.finding import Diagnosis
from doctord.errors import UserError
from doctord.lab import run as lab
from doctord.lab.dose import MODERATE, Dose
from doctord.lab.fault import Engine, Fault, all_faults, family_of
from doctord.lab.load.workload import Load
from doctord.lab.run import LabServer, Outcome
from doctord.lake.claim import check_place
from doctord.lake.writer import write


@dataclass(frozen=True)
class Tried:
    """What came of a fault, and what was diagnosed; null where that was not asked for, or the fault was skipped."""

    outcome: Outcome[Diagnosis | None]

    @property
    def diagnosis(self) -> Diagnosis | None:
        """What was diagnosed while the fault lasted."""
        return self.outcome.seen

    @property
    def first_cause(self) -> str | None:
        """The cause that the diagnosis names first."""
        return None if self.diagnosis is None else first_cause(self.diagnosis)

    @property
    def healthy(self) -> bool:
        """Whether no cause was found, or none looked for."""
        return self.first_cause is None

    @property
    def correct(self) -> bool | None:
        """Whether that is the injected one; null when nothing was diagnosed."""
        return None if self.diagnosis is None else self.first_cause == self.outcome.fault.cause


def first_cause(diagnosis: Diagnosis) -> str | None:
    """The cause that a diagnosis names first; null where nothing is above a note."""
    return diagnosis.findings[0].cause if diagnosis.health == "not_healthy" else None


def faults(engine: Engine = "postgresql") -> Sequence[Fault]:
    """The faults that can be injected into a server of that kind."""
    return tuple(all_faults(family_of(engine)).values())


def fault_named(name: str, engine: Engine = "postgresql") -> Fault:
    """The fault of a name, for a server of that kind.

    Raises:
        UserError: there is none.
    """
    known = all_faults(family_of(engine))
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name.replace("-", "_"), known, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    listed = "doctord lab list" + ("" if engine == "postgresql" else f" --engine {engine}")
    raise UserError(f"there is no fault {name!r}", f"{hint}`{listed}` shows them all")


def try_fault(
    fault: Fault,
    seconds: float,
    invite: Callable[[LabServer], None] | None = None,
    *,
    dose: Dose = MODERATE,
    load: Load = "tpcb",
    bin_dir: Path | None = None,
    keep: bool = False,
    lake: Path | None = None,
    watcher: Watcher = SILENT,
    engine: Engine = "postgresql",
    settings: Mapping[str, str] | None = None,
) -> Tried:
    """Inject a fault into a private server for so long, and diagnose it.

    Args:
        fault: The fault.
        seconds: How long it lasts, once it bites.
        invite: Is told of the server, and then time goes by for somebody to look; null has it diagnosed instead.
        dose: How much of it, and the seed of everything random in the load.
        load: The light load.
        bin_dir: Folder of the server's programs; null: the newest found.
        keep: Whether the server's folder, with its logs, stays.
        lake: Where to keep what the diagnosis is made from; null keeps nothing.
        watcher: Who is told how it goes on.
        engine: What kind of server: one that the fault is for.
        settings: What the server is to have beside the fault's own.

    Raises:
        UserError: the fault does not come in that intensity, there is no usable server of that kind, it does not
            start, or the lake cannot be written.
    """
    if dose.intensity not in fault.intensities:
        raise UserError(f"there is no {dose.intensity} {fault.name}", f"it comes as {', '.join(fault.intensities)}")
    if lake:
        check_place(lake)

    def look(server: LabServer) -> Diagnosis | None:
        if invite is None:
            return diagnosed(server, seconds, lake, watcher)
        invite(server)
        time.sleep(seconds)
        return None

    return Tried(
        lab.run(fault, look, dose=dose, load=load, bin_dir=bin_dir, keep=keep, engine=engine, settings=settings)
    )


def diagnosed(server: LabServer, seconds: float, lake: Path | None, watcher: Watcher = SILENT) -> Diagnosis:
    """What is diagnosed in so long, and kept in the lake; without a past, as this host's is not a private server's."""
    named = [server.dsn, *server.beside]
    examination = diagnose(Live(seconds, named), watcher=watcher, servers=len(named))
    if lake:
        write(lake, examination.seen.batches)
    return examination.diagnosis
