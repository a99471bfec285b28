"""One run of the lab: a server, a light load, a fault, and somebody who looks."""

import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from doctord.lab.binaries import find_binaries
from doctord.lab.dose import MODERATE, Dose
from doctord.lab.effect import Effect, effect_on_figure, effect_on_load
from doctord.lab.errors import UnavailableError
from doctord.lab.fault import Engine, Fault
from doctord.lab.host import cgroup, folder, loop_device
from doctord.lab.host.cgroup import Group
from doctord.lab.host.disk import DiskPace, synced_writes
from doctord.lab.host.processes import orderly_end
from doctord.lab.load.workload import LOADS, Load, Pace, Workload, workload
from doctord.lab.mysql.binaries import Program, find_program
from doctord.lab.mysql.clients import clients
from doctord.lab.mysql.server import PrivateMySQL
from doctord.lab.mysql.server import running_server as running_mysql
from doctord.lab.mysql.tables import LOADS as MYSQL_LOADS
from doctord.lab.mysql.tables import provide_data
from doctord.lab.server import PrivateServer, running_server
from doctord.lab.template import provide_cluster

log = logging.getLogger("doctord.lab")

_CLIENTS = 4
_RATE_PER_S = 100
BEFORE_S = 3.0

LabServer = PrivateServer | PrivateMySQL
Seen = TypeVar("Seen")


@dataclass(frozen=True)
class Outcome(Generic[Seen]):
    """What came of a run: the pace of the light load before and during the fault, and what who looked saw.

    `skipped` says why the fault could not be injected here; everything else is null then. `effect` is what the
    injection took from the service, null too where it could not be measured, or there is nothing to be lost. `disk` is
    how the machine's own disk did beside the server.
    """

    fault: Fault
    dose: Dose
    skipped: str | None = None
    before: Pace | None = None
    during: Pace | None = None
    effect: Effect | None = None
    seen: Seen | None = None
    disk: DiskPace | None = None


def run(
    fault: Fault,
    look: Callable[[Any], Seen],
    *,
    dose: Dose = MODERATE,
    load: Load = "tpcb",
    bin_dir: Path | None = None,
    keep: bool = False,
    engine: Engine = "postgresql",
    settings: Mapping[str, str] | None = None,
) -> Outcome[Seen]:
    """Inject a fault into a private server and look at it once the fault bites.

    Whatever way this ends, by return, exception, Ctrl-C or SIGTERM, the server, its load and its folder are gone.

    Args:
        fault: the fault.
        look: is called with the server (a `PrivateServer`, or a `PrivateMySQL`) while the fault lasts; the outcome
            holds what it returns.
        dose: how much of it, and the seed of everything random in the load.
        load: the light load.
        bin_dir: folder of the server's programs; null: the newest found.
        keep: whether the server's folder, with its logs, stays.
        engine: what kind of server, one of the fault's family.
        settings: what the server is to have beside the fault's own.

    Raises:
        LabError: there is no usable server of that kind, or it does not start.
    """
    own = replace(fault, settings={**(settings or {}), **fault.settings})
    try:
        with _loaded(own, dose, load, bin_dir, engine, keep=keep) as (server, light):
            return _injected(fault, look, dose, server, light)
    except UnavailableError as reason:
        return Outcome(fault, dose, skipped=str(reason))


def _loaded(
    fault: Fault, dose: Dose, load: Load, bin_dir: Path | None, engine: Engine, *, keep: bool
) -> AbstractContextManager[tuple[LabServer, Workload]]:
    if engine == "postgresql":
        return loaded_server(fault, dose, load, bin_dir, keep=keep)
    return loaded_mysql(fault, dose, load, find_program(engine, bin_dir), keep=keep)


@contextmanager
def place_for(fault: Fault, *, keep: bool) -> Iterator[tuple[Path, Group | None]]:
    """A folder for a server, and the control group that the fault asks for; whatever way it ends, both are gone.

    Raises:
        UnavailableError: the fault cannot be injected here.
    """
    if fault.root_for and os.geteuid() != 0:
        raise UnavailableError(f"it needs root, for {fault.root_for}")
    with orderly_end(), ExitStack() as stack:
        loop_device.sweep()
        folder.sweep()
        cgroup.sweep()
        home = stack.enter_context(folder.private_folder(keep=keep))
        yield home, stack.enter_context(cgroup.control_group(fault.controller)) if fault.controller else None


@contextmanager
def loaded_mysql(
    fault: Fault, dose: Dose, load: Load, program: Program, *, keep: bool = False
) -> Iterator[tuple[PrivateMySQL, Workload]]:
    """A private MariaDB or MySQL as a fault wants it, with the light load.

    Raises:
        LabError: it does not start.
        UnavailableError: the fault cannot be injected here.
    """
    with place_for(fault, keep=keep) as (home, group):
        provide_data(program, home / "data")
        with (
            running_mysql(program, home, home / "data", fault.settings, group=group, entrance=fault.entrance) as server,
            clients(server, MYSQL_LOADS[load], seed=dose.seed, clients=_CLIENTS, rate_per_s=_RATE_PER_S) as light,
        ):
            yield server, light


@contextmanager
def loaded_server(
    fault: Fault, dose: Dose, load: Load, bin_dir: Path | None, *, keep: bool = False
) -> Iterator[tuple[PrivateServer, Workload]]:
    """A private server as a fault wants it, with the light load.

    Raises:
        LabError: there is no usable PostgreSQL, or it does not start.
        UnavailableError: the fault cannot be injected here.
    """
    with place_for(fault, keep=keep) as (home, group), ExitStack() as stack:
        binaries = find_binaries(bin_dir)
        provide_cluster(binaries, fault.scale, home / "data")
        server = stack.enter_context(
            running_server(binaries, home, home / "data", fault.settings, group=group, entrance=fault.entrance)
        )
        light = workload(
            server,
            seed=dose.seed,
            clients=_CLIENTS,
            scripts=LOADS[load],
            rate_per_s=_RATE_PER_S,
            restarts=fault.restarts_load,
        )
        yield server, stack.enter_context(light)


def _injected(
    fault: Fault,
    look: Callable[[Any], Seen],
    dose: Dose,
    server: LabServer,
    light: Workload,
) -> Outcome[Seen]:
    log.info("the server runs; watching it healthy for %g s", BEFORE_S)
    with synced_writes(server.folder) as disk:
        started = time.time()
        time.sleep(BEFORE_S)
        figure = fault.effect.read(server) if fault.effect else None
        begun = time.time()
        with fault.inject(server, dose):
            log.info("%s injected (%s), waiting %g s for it to bite", fault.name, dose.intensity, fault.warm_up_s)
            time.sleep(fault.warm_up_s)
            bites = time.time()
            seen = look(server)
            ended = time.time()
            before, during = light.pace(started, begun), light.pace(bites, ended)
            effect = effect_of(fault, server, figure, before, during)
            pace = DiskPace(disk.slowest_ms(started, begun), disk.slowest_ms(bites, ended))
            return Outcome(fault, dose, None, before, during, effect, seen, pace)


def effect_of(
    fault: Fault,
    server: LabServer,
    figure: float | None,
    before: Pace | None,
    during: Pace | None,
) -> Effect | None:
    """What the fault has taken, while it lasts; `figure` is its own figure before it."""
    if fault.cause is None:
        return None
    if fault.effect is None:
        return effect_on_load(before, during)
    return effect_on_figure(fault.effect, figure, fault.effect.read(server))
