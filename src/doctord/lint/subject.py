"""Whose configuration is examined: a database server, or a component of the host, with its machine beside it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from doctord.dataset.catalogue import Known, Version, catalogue, list_of, version_of
from doctord.dataset.dataset import Dataset
from doctord.dataset.tables import NOTED
from doctord.diagnose.case import Case
from doctord.diagnose.finding import Evidence, NotMeasured
from doctord.diagnose.phrase import Words
from doctord.lint.setting import NOT_SET, Setting
from doctord.lint.statement import Statement
from doctord.lint.violation import Change, Severity, Violation

# What tells a version, the surest first: Oracle's `compatible` is the least that it can be.
VERSIONS = ("server_version", "version", "report.version", "compatible")
# Their reports and files list what differs from the default; what is not listed has it.
LIST_DIFFERENCES = ("oracle",)


class Machine:
    """The host that a configuration is for; every figure is null where it is not known."""

    def __init__(self, dataset: Dataset, cpus: int | None = None) -> None:
        """The machine that a dataset tells of; `cpus` is what the user says of it."""
        self.case = Case(dataset)
        self._cpus = cpus
        self._memory = dataset.frame("memory")

    @property
    def cpus(self) -> int | None:
        """Number of CPUs: as the user says, as they were seen, or as lscpu told."""
        told = self.case.setting("lscpu.CPU(s)")
        return self._cpus or self.case.cpus or (int(told) if told and told.isdigit() else None)

    def memory(self, column: str) -> float | None:
        """The last value of a column of `memory`: `total_bytes`, ...; null where hosts differ in it."""
        known = self._memory.filter(self._memory[column].is_not_null()).sort("ts", maintain_order=True)
        values = {float(part[column][-1]) for part in known.partition_by("host")}
        return values.pop() if len(values) == 1 else None

    @property
    def memory_bytes(self) -> float | None:
        """All memory of the host in bytes, as it was measured; null where it was not."""
        return self.memory("total_bytes")


@dataclass
class Subject:
    """One component whose settings are examined.

    Attributes:
        component: postgresql, mysql, oracle, kernel, multipath, ...
        db: The database server, `postgresql:5432`; null for a component of the host.
        host: The host, where it is known.
        rows: All its rows of `setting`, those of one name in the order in which they count.
        machine: What is known of the host.
        others: All subjects of the host, itself among them.
        statements: Of a file of SQL, the statements with hints.
    """

    component: str
    db: str | None
    host: str | None
    rows: tuple[Setting, ...]
    machine: Machine
    others: list["Subject"] = field(default_factory=list, repr=False)
    statements: tuple[Statement, ...] = ()

    @property
    def name(self) -> str:
        """How it is called: the database server, else the host."""
        return self.db or self.host or "this host"

    @property
    def case(self) -> Case:
        """What was measured; its time model is empty where nothing was."""
        return self.machine.case

    @cached_property
    def is_measured(self) -> bool:
        """Whether the time of the databases was measured, so that an impact can be told."""
        return self.case.time.of == "database" and self.case.time.seconds_per_second > 0

    @cached_property
    def version(self) -> Version | None:
        """Its version; null where nobody says it."""
        return version_of(self._version) if self._version else None

    @cached_property
    def listed(self) -> str:
        """Name of the list of settings that holds for it: its component, of which MySQL's has two (see `list_of`)."""
        return list_of(self.component, self._version)

    @property
    def known(self) -> dict[str, Known]:
        """The settings that it could have, by name; empty where there is no list."""
        return catalogue(self.listed)

    @property
    def _version(self) -> str | None:
        return next((one.value for name in VERSIONS if (one := self._last.get(name))), None)

    def get(self, name: str) -> Setting | None:
        """The setting in force: as a running server says, else as the files do, else its default.

        The default counts where what was read lists only what differs from it: a file, or Oracle's reports. Of what
        somebody noted by hand it does not.
        """
        if (found := self._last.get(name)) is not None:
            return found
        known = self.known.get(name)
        lists_all = self.is_running and self.component not in LIST_DIFFERENCES
        if lists_all or self.is_noted or known is None or known.default is None or not known.is_in(self.version):
            return None
        return Setting(self.component, self.db, None, name, known.default, known.unit, NOT_SET)

    @cached_property
    def is_running(self) -> bool:
        """Whether a running server (or kernel) told its settings."""
        return any(one.is_running for one in self.rows)

    @cached_property
    def is_noted(self) -> bool:
        """Whether somebody wrote down by hand all that is known of it."""
        return bool(self.rows) and all(one.source == NOTED for one in self.rows)

    def number(self, name: str) -> float | None:
        """A setting as a number: bytes, seconds, or as it is; null where it is not known or no number."""
        found = self.get(name)
        return found.number if found else None

    def flag(self, name: str) -> bool | None:
        """A setting as yes or no; null where it is not known or neither."""
        found = self.get(name)
        return found.flag if found else None

    def text(self, name: str) -> str | None:
        """A setting as it is written; null where it is not known."""
        found = self.get(name)
        return found.value if found else None

    def explicit(self, name: str) -> Setting | None:
        """The setting where somebody set it, be it to its default."""
        found = self._last.get(name)
        return found if found is not None and found.is_set else None

    def other(self, component: str) -> "Subject | None":
        """The first subject of another component on this host: the kernel, say."""
        return next((one for one in self.others if one.component == component), None)

    def violation(
        self,
        title: Words,
        *names: str,
        cost: Words,
        severity: Severity | None = None,
        impact: float | None = None,
        settings: Sequence[Setting] = (),
        evidence: Sequence[Evidence] = (),
        not_measured: Sequence[NotMeasured] = (),
        changes: Sequence[Change] = (),
        fix: Words = "",
        verify: Words = "",
    ) -> Violation:
        """A violation about settings by name, or those given; without a severity its impact decides.

        The examination adds the rule's name, and from its documentation what is not given here.
        """
        return Violation(
            rule="",
            subject=self.name,
            title=title,
            severity=Severity.of(impact) if severity is None else severity,
            cost=cost,
            impact=impact,
            settings=tuple(settings) or tuple(found for name in names if (found := self.get(name))),
            evidence=tuple(evidence),
            not_measured=tuple(not_measured),
            changes=tuple(changes),
            fix=fix,
            verify=verify,
            source="",
        )

    def change(self, name: str, value: str | None, needs: str = "") -> Change:
        """A change of one of its settings; what that needs is as the catalogue has it, if not said."""
        known = self.known.get(name)
        return Change(self.component, name, value, needs or (known.needs if known and known.needs else "restart"))

    @cached_property
    def _last(self) -> dict[str, Setting]:
        """What counts of each name: a running server's word before that of a file."""
        return {one.name: one for one in sorted(self.rows, key=lambda row: row.is_running)}
