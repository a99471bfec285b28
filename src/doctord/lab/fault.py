"""What a fault is, and the registry of them: a decorated function per file in `faults/`, by subject."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeVar, get_args

from doctord.lab.dose import INTENSITIES, Dose, Intensity
from doctord.lab.effect import Figure
from doctord.lab.host.cgroup import Controller

Engine = Literal["postgresql", "mariadb", "mysql"]
ENGINES: Final[tuple[Engine, ...]] = get_args(Engine)
Family = Literal["postgresql", "mysql"]
"""Engines that faults are written for together."""
_PACKAGE: Final[Mapping[Family, str]] = {"postgresql": "doctord.lab.faults", "mysql": "doctord.lab.mysql.faults"}
Server = TypeVar("Server")

ONE: Final[tuple[Intensity, ...]] = ("moderate",)
"""The intensities of what is there or not."""
_GROUP: Final = "a control group of the server's own"


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: how it is injected, and which cause a diagnosis has to name first.

    `inject` gets the running server, of the engines of its `family`, and the dose; while its context lasts, the fault
    does. `cause` is the identifier of the cause, null when there is nothing to find. `intensities` are those that it
    can be injected in. `effect` is the figure that shows what the service loses, null when the light load does.
    `controller` is what the server's own control group has to offer. `root_for` is what needs root, null when nothing
    does. `settings` and `scale` are those of the server and of pgbench's tables. `warm_up_s` is how long the fault
    takes to bite. `restarts_load` says that the light load begins anew when the server has ended its sessions.
    `entrance` is what to put before the server's command, to run it where something is different.
    """

    name: str
    description: str
    cause: str | None
    inject: Callable[[Any, Dose], AbstractContextManager[None]]
    intensities: tuple[Intensity, ...] = ONE
    effect: Figure | None = None
    controller: Controller | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    scale: int = 10
    warm_up_s: float = 2.0
    root_for: str | None = None
    restarts_load: bool = False
    entrance: tuple[str, ...] = ()
    family: Family = "postgresql"

    @property
    def summary(self) -> str:
        """The first line of the description."""
        return self.description.partition("\n")[0]


_known: Final[dict[Family, dict[str, Fault]]] = {family: {} for family in _PACKAGE}


def fault(
    cause: str | None,
    *,
    intensities: tuple[Intensity, ...] | None = None,
    effect: Figure | None = None,
    controller: Controller | None = None,
    settings: Mapping[str, str] | None = None,
    scale: int = 10,
    warm_up_s: float = 2.0,
    root_for: str | None = None,
    restarts_load: bool = False,
    entrance: tuple[str, ...] = (),
    family: Family = "postgresql",
) -> Callable[[Callable[[Server, Dose], Iterator[None]]], Callable[[Server, Dose], Iterator[None]]]:
    """Register a generator function as a fault: name and docstring are the fault's, which lasts while it yields.

    One that has a cause comes in all intensities, and one that has none in one, unless it says `intensities`.
    """

    def register(injection: Callable[[Server, Dose], Iterator[None]]) -> Callable[[Server, Dose], Iterator[None]]:
        name, description = injection.__name__, inspect.getdoc(injection) or ""
        inject = contextmanager(injection)
        _known[family][name] = Fault(
            name,
            description,
            cause,
            inject,
            intensities or (INTENSITIES if cause else ONE),
            effect,
            controller,
            settings or {},
            scale,
            warm_up_s,
            root_for or (_GROUP if controller else None),
            restarts_load,
            entrance,
            family,
        )
        return injection

    return register


def family_of(engine: Engine) -> Family:
    """Whose faults an engine has."""
    return "postgresql" if engine == "postgresql" else "mysql"


def all_faults(family: Family = "postgresql") -> dict[str, Fault]:
    """Every fault by its name, in alphabetical order, the look-alikes and then the healthy run last."""
    package = importlib.import_module(_PACKAGE[family])
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)
    return dict(sorted(_known[family].items(), key=lambda item: (item[0] == "none", item[1].cause is None, item[0])))
