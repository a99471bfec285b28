"""What was sent to a store."""

from collections.abc import Iterator
from typing import Any, Final

from rich.text import Text

from doctord.app.fleet.ship import Shipment
from doctord.report.lines import hanging, heading, printed
from doctord.report.plain import clean
from doctord.units import in_bytes

MOST_SHOWN: Final = 10


def document(found: Shipment) -> dict[str, Any]:
    """What `doctord ship --json` gives."""
    return {
        "place": found.place,
        "host": found.host,
        "sent": list(found.sent),
        "sent_bytes": found.sent_bytes,
        "there": found.there,
        "waiting": [{"segment": name, "reason": reason} for name, reason in found.waiting],
        "lost": list(found.lost),
    }


def render(found: Shipment) -> str:
    """The same, to be read on a terminal."""
    return printed(lambda width: _lines(found, width), None, colour=None)


def _lines(found: Shipment, width: int) -> Iterator[Text]:
    sent = f"{_segments(len(found.sent))} sent" if found.sent else "Nothing new to send"
    size = f", {in_bytes(found.sent_bytes)}" if found.sent_bytes else ""
    there = f"; {found.there} of them were there already" if found.there else ""
    yield from hanging("", clean(f"{sent} to {found.place} as {found.host}{size}{there}"), width)
    if found.waiting:
        yield from heading("Not sent, tried again next time", width)
        reasons = dict.fromkeys(reason for _, reason in found.waiting)
        for reason in reasons:
            names = [name for name, told in found.waiting if told == reason]
            yield from hanging("", clean(f"{_segments(len(names))}, from {names[0]} on: {reason}"), width)
    if found.lost:
        yield from heading("Lost", width, "removed from the lake before they could be sent")
        for name in found.lost[:MOST_SHOWN]:
            yield from hanging("", name, width)
        if len(found.lost) > MOST_SHOWN:
            yield from hanging("", f"and {len(found.lost) - MOST_SHOWN} more: --json has all", width)


def _segments(many: int) -> str:
    return "1 segment" if many == 1 else f"{many} segments"
