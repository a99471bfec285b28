"""Two faults in one server, alone and together: what each of them takes, and somebody who looks while both last."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Generic

from doctord.lab.dose import MODERATE, Dose
from doctord.lab.effect import Effect
from doctord.lab.errors import LabError, UnavailableError
from doctord.lab.fault import Fault
from doctord.lab.load.workload import Load, Pace
from doctord.lab.run import BEFORE_S, Seen, effect_of, loaded_server
from doctord.lab.server import PrivateServer

ALONE_S: Final = 5.0
"""How long each fault is measured alone."""


@dataclass(frozen=True)
class Alone:
    """One of the two while the other was not there: the pace of the light load, and what the fault took of it.

    Both are null where they could not be measured.
    """

    fault: Fault
    pace: Pace | None
    effect: Effect | None


@dataclass(frozen=True)
class Together(Generic[Seen]):
    """What came of a pair: paces of the light load before, with each alone and with both, and what who looked saw.

    `skipped` says why it could not be injected here; the rest is empty then.
    """

    faults: tuple[Fault, Fault]
    skipped: str | None = None
    before: Pace | None = None
    alone: tuple[Alone, ...] = ()
    both: Pace | None = None
    seen: Seen | None = None

    @property
    def is_case(self) -> bool:
        """Whether each of the two took effect alone, as far as that was measured."""
        return all(one.effect is None or one.effect.found for one in self.alone)


def run_pair(
    first: Fault,
    second: Fault,
    look: Callable[[PrivateServer], Seen],
    *,
    dose: Dose = MODERATE,
    load: Load = "tpcb",
    bin_dir: Path | None = None,
) -> Together[Seen]:
    """Inject one fault, then another one beside it, look, and end the first.

    Args:
        first: is injected first, and ends first.
        second: is injected beside it, and lasts longer.
        look: is called with the server while both last; the outcome holds what it returns.
        dose: how much of each, and the seed of everything random in the load.
        load: the light load.
        bin_dir: folder of PostgreSQL's programs; null: the newest found.

    Raises:
        LabError: both want another value of the same setting, or a control group of their own; there is no usable
            PostgreSQL, or it does not start.
    """
    faults = (first, second)
    try:
        with loaded_server(_server_for(first, second), dose, load, bin_dir) as (server, light):
            started = time.time()
            time.sleep(BEFORE_S)
            before = light.pace(started, time.time())

            def alone(fault: Fault, figure: float | None) -> Alone:
                since = time.time()
                time.sleep(ALONE_S)
                pace = light.pace(since, time.time())
                return Alone(fault, pace, effect_of(fault, server, figure, before, pace))

            figures = [fault.effect.read(server) if fault.effect else None for fault in faults]
            with ExitStack() as only_second, ExitStack() as only_first:
                only_first.enter_context(first.inject(server, dose))
                time.sleep(first.warm_up_s)
                first_alone = alone(first, figures[0])
                only_second.enter_context(second.inject(server, dose))
                time.sleep(second.warm_up_s)
                since = time.time()
                seen = look(server)
                both = light.pace(since, time.time())
                only_first.close()
                time.sleep(second.warm_up_s)
                return Together(faults, None, before, (first_alone, alone(second, figures[1])), both, seen)
    except UnavailableError as reason:
        return Together(faults, skipped=str(reason))


def _server_for(first: Fault, second: Fault) -> Fault:
    """The first fault with what the second one wants of the server as well."""
    differing = [name for name, value in second.settings.items() if first.settings.get(name, value) != value]
    if differing:
        raise LabError(f"{first.name} and {second.name} both set {differing[0]}", "choose faults that do not")
    if first.controller and second.controller:
        raise LabError(f"{first.name} and {second.name} both limit the server's control group", "choose others")
    return replace(
        first,
        controller=first.controller or second.controller,
        settings={**first.settings, **second.settings},
        scale=max(first.scale, second.scale),
        root_for=" and ".join(dict.fromkeys(filter(None, (first.root_for, second.root_for)))) or None,
        restarts_load=first.restarts_load or second.restarts_load,
        entrance=first.entrance + second.entrance,
    )
