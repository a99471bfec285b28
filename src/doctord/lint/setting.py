"""One configured value as a rule reads it: in bytes, seconds or plain numbers, and where it stands."""

from dataclasses import dataclass
from typing import Final

from doctord.dataset.tables import FROM_FILE
from doctord.diagnose.phrase import Words, phrase
from doctord.units import setting_number

NOT_SET: Final = f"{FROM_FILE}, not set"
TRUE: Final = frozenset({"on", "true", "yes", "1", "t", "y", "enabled"})
FALSE: Final = frozenset({"off", "false", "no", "0", "f", "n", "disabled"})


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
        return setting_number(self.value, self.unit)

    @property
    def flag(self) -> bool | None:
        """Its value as yes or no; null where it is neither."""
        word = self.value.strip().strip("'\"").lower()
        return True if word in TRUE else False if word in FALSE else None

    @property
    def words(self) -> Words:
        """Its value: a bare number of bytes or pages as a size, any other with its unit.

        >>> Setting("postgresql", None, None, "max_wal_size", "1024", "MB").words
        Phrase(words='{:bytes}', values=(1073741824.0,))
        """
        if not self.unit or not self.value.isdigit():
            return self.value
        is_size = self.unit.lower().endswith(("b", "bytes"))
        return phrase("{:bytes}", self.number or 0.0) if is_size else f"{self.value} {self.unit}"

    @property
    def where(self) -> str:
        """File and line; empty where nobody knows."""
        if self.file is None:
            return ""
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
