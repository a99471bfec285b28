"""Whether two readings hold the same rows, whatever their order."""

from doctord.dataset.tables import TABLES
from doctord.read.formats import Reading
from reading import frame


def differences(one: Reading, other: Reading) -> list[str]:
    """Tables whose rows are not the same."""
    found = []
    for name, table in TABLES.items():
        keys = ["ts", "host", *table.entity]
        left, right = (frame(reading, name).sort(keys) for reading in (one, other))
        if not left.equals(right):
            found.append(f"{name}: {len(left)} and {len(right)} rows that are not the same")
    return found
