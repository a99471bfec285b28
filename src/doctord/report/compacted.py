"""What was compacted in a store."""

from collections.abc import Iterator
from typing import Any, Final

from rich.text import Text

from doctord.lake.store.compaction import Compacted
from doctord.report.lines import hanging, heading, printed
from doctord.report.plain import clean
from doctord.units import in_bytes

MOST_SHOWN: Final = 10


def document(found: Compacted) -> dict[str, Any]:
    """What `doctord compact --json` gives."""
    return {
        "days": [day.isoformat() for day in found.days],
        "bundles": found.bundles,
        "rows": found.rows,
        "files": found.files,
        "file_bytes": found.file_bytes,
        "refused": [{"key": key, "reason": reason} for key, reason in found.refused],
        "left": [day.isoformat() for day in found.left],
        "expired": [day.isoformat() for day in found.expired],
    }


def render(found: Compacted) -> str:
    """The same, to be read on a terminal."""
    return printed(lambda width: _lines(found, width), None, colour=None)


def _lines(found: Compacted, width: int) -> Iterator[Text]:
    if found.bundles:
        days = found.days[0].isoformat() if len(found.days) == 1 else f"{len(found.days)} days"
        segments = "1 segment" if found.bundles == 1 else f"{found.bundles:,} segments"
        told = f"{segments} of {days}: {found.rows:,} rows in {found.files:,} new files"
        yield from hanging("", f"{told}, {in_bytes(found.file_bytes)}", width)
    else:
        yield from hanging("", "Nothing new of days that ended", width)
    if found.left:
        yield from hanging("", f"Another one is at {', '.join(day.isoformat() for day in found.left)}", width)
    if found.expired:
        yield from hanging("", f"Removed: {len(found.expired)} days up to {found.expired[-1].isoformat()}", width)
    if found.refused:
        yield from heading("Left out", width)
        for key, reason in found.refused[:MOST_SHOWN]:
            yield from hanging("", clean(f"{key}: {reason}"), width)
        if len(found.refused) > MOST_SHOWN:
            yield from hanging("", f"and {len(found.refused) - MOST_SHOWN} more: --json has all", width)
