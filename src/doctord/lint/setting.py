"""One configured value as a rule reads it: in bytes, seconds or plain numbers, and where it stands."""

import re
from dataclasses import dataclass
from typing import Final

from doctord.chart.tables import FROM_FILE

NOT_SET: Final = f"{FROM_FILE}, not set"
TRUE: Final = frozenset({"on", "true", "yes", "1", "t", "y", "enabled"})
FALSE: Final = frozenset({"off", "false", "no", "0", "f", "n", "disabled"})
QUANTITY: Final = re.compile(r"\s*([-+]?\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*")
_BYTES: Final = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40, "p": 1 << 50, "e": 1 << 60}
FACTORS: Final = {
    **{f"{letter}{tail}": float(size) for letter, size in _BYTES.items() for tail in ("b", "ib")},
    **{letter: float(size) for letter, size in _BYTES.items() if letter},
    "bytes": 1.0,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "seconds": 1.0,
    "min": 60.0,
    "h": 3600.0,
    "d": 86400.0,
}


@dataclass(frozen=True, slots=True)
class Setting:
    """A row of `setting`.

    Attributes:
        component: Whose it is: postgresql, mysql, oracle, kernel, multipath, ...
        db: Database server; null for the host.
        instance: Instance of a clustered server; null elsewhere.
        name: The component's own name of it.
        value: As the source writes it.
        unit: What a bare number counts: `8kB`, `ms`, `bytes`; null: nothing, or not known.
        source: What set it; FROM_FILE when the row is a file's, and no running server was asked.
        file: The file that sets it.
        line: The line in it.
        column: The column, where it matters.
    """

    component: str
    db: str | None
    instance: str | None
    name: str
    value: str
    unit: str | None = None
    source: str | None = None
    file: str | None = None
    line: int | None = None
    column: int | None = None

    @property
    def is_running(self) -> bool:
        """Whether a running server or kernel said it."""
        return self.source is None or not self.source.startswith(FROM_FILE)

    @property
    def is_set(self) -> bool:
        """Whether somebody set it, be it to its default."""
        return self.source not in ("default", NOT_SET)

    @property
    def number(self) -> float | None:
        """Its value as a number: bytes for sizes, seconds for times; null where it is none.

        >>> Setting("postgresql", None, None, "shared_buffers", "16384", "8kB").number
        134217728.0
        >>> Setting("postgresql", None, None, "checkpoint_timeout", "5min", "s").number
        300.0
        """
        found = QUANTITY.fullmatch(self.value)
        if found is None:
            return None
        factor = FACTORS.get(found[2].lower()) if found[2] else factor_of(self.unit)
        return None if factor is None else float(found[1]) * factor

    @property
    def flag(self) -> bool | None:
        """Its value as yes or no; null where it is neither."""
        word = self.value.strip().strip("'\"").lower()
        return True if word in TRUE else False if word in FALSE else None

    @property
    def where(self) -> str:
        """File and line; empty where nobody knows."""
        if self.file is None:
            return ""
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)


def factor_of(unit: str | None) -> float:
    """What one of a unit is in bytes or seconds; `8kB` is 8192, no unit 1."""
    found = re.fullmatch(r"(\d*)\s*([A-Za-z]+)", unit.strip()) if unit else None
    if found is None:
        return 1.0
    return int(found[1] or 1) * FACTORS.get(found[2].lower(), 1.0)
