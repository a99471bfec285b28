"""One run of the lab: a server, a light load, a fault, and somebody who looks."""

import logging
import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from doctord.lab import cgroup, folder
from doctord.lab.binaries import find_binaries
from doctord.lab.errors import UnavailableError
from doctord.lab.fault import Fault
from doctord.lab.processes import orderly_end
from doctord.lab.server import PrivateServer, running_server
from doctord.lab.template import provide_cluster
from doctord.lab.workload import LOADS, Load, Pace, workload

log = logging.getLogger("doctord.lab")

_CLIENTS = 4
_RATE_PER_S = 100
_BEFORE_S = 3.0

Seen = TypeVar("Seen")


@dataclass(frozen=True)
class Outcome(Generic[Seen]):
    """What came of a run: the pace of the light load before and during the fault, and what who looked saw.

    `skipped` says why the fault could not be injected here; everything else is null then.
    """

    fault: Fault
    skipped: str | None = None
    before: Pace | None = None
    during: Pace | None = None
    seen: Seen | None = None


def run(
    fault: Fault,
    look: Callable[[PrivateServer], Seen],
    *,
    seed: int = 1,
    load: Load = "tpcb",
    bin_dir: Path | None = None,
    keep: bool = False,
) -> Outcome[Seen]:
    """Inject a fault into a private server and look at it once the fault bites.

    Whatever way this ends, by return, exception, Ctrl-C or SIGTERM, the server, its load and its folder are gone.

    Args:
        fault: the fault.
        look: is called with the server while the fault lasts; the outcome holds what it returns.
        seed: for everything random in the load.
        load: the light load.
        bin_dir: folder of PostgreSQL's programs; null: the newest found.
        keep: whether the server's folder, with its logs, stays.

    Raises:
        LabError: there is no usable PostgreSQL, or it does not start.
    """
    if fault.needs_root and os.geteuid() != 0:
        return Outcome(fault, skipped="it limits the server's control group, which needs root")
    binaries = find_binaries(bin_dir)
    with orderly_end():
        folder.sweep()
        cgroup.sweep()
        try:
            return _run(fault, look, seed, load, binaries, keep=keep)
        except UnavailableError as reason:
            return Outcome(fault, skipped=str(reason))


def _run(
    fault: Fault, look: Callable[[PrivateServer], Seen], seed: int, load: Load, binaries: Path, *, keep: bool
) -> Outcome[Seen]:
    with ExitStack() as stack:
        home = stack.enter_context(folder.private_folder(keep=keep))
        provide_cluster(binaries, fault.scale, home / "data")
        group = stack.enter_context(cgroup.control_group(fault.controller)) if fault.controller else None
        server = stack.enter_context(running_server(binaries, home, home / "data", fault.settings, group=group))
        log.info("the server runs; watching it healthy for %g s", _BEFORE_S)
        light = stack.enter_context(
            workload(
                server,
                seed=seed,
                clients=_CLIENTS,
                scripts=LOADS[load],
                rate_per_s=_RATE_PER_S,
                restarts=fault.restarts_load,
            )
        )
        started = time.time()
        time.sleep(_BEFORE_S)
        stack.enter_context(fault.inject(server, seed))
        injected = time.time()
        log.info("%s injected, waiting %g s for it to bite", fault.name, fault.warm_up_s)
        time.sleep(fault.warm_up_s)
        bites = time.time()
        seen = look(server)
        return Outcome(fault, None, light.pace(started, injected), light.pace(bites, time.time()), seen)
