"""Modules of memory: which channels of a processor have one."""

import re
from collections.abc import Iterator
from typing import Final

from doctord.diagnose.phrase import Words, phrase
from doctord.lint.rule import rule
from doctord.lint.setting import Setting
from doctord.lint.subject import Subject
from doctord.lint.violation import CANNOT_JUDGE, Severity, Violation
from doctord.regex import regex

# `P0_Node0_Channel1_Dimm0`, `CHANNEL B`; `DIMM_A1`, `P1-DIMMA2`, `A1`: the letter is the channel, the number the slot.
CHANNEL: Final = regex(r"channel[ _]?(\w)", re.IGNORECASE)
LETTER: Final = regex(r"(?:DIMM[ _]?)?([A-Z])\d$")
PROCESSOR: Final = regex(r"(?:^|[^A-Za-z])(?:P|CPU|PROC|NODE)[ _]?(\d)", re.IGNORECASE)
LEAST_CHANNELS: Final = 2


@rule("dmi")
def memory_channels_empty(subject: Subject) -> Iterator[Violation]:
    """Some channels of a processor have no module of memory, or one of another size.

    Why: each channel brings its own bandwidth: with half of them filled scans, sorts and hash joins get half of it;
        with modules of different sizes part of the memory is not interleaved over all.
    Evidence: the slots that dmidecode lists, by processor and channel.
    Fix: The same module in each channel first, then a second one in each: boards and processors filled alike.
    Verify: dmidecode -t memory; the bandwidth of a copy (stream) before and after.
    Source: G. Fawcett, "Demystifying high-end server behavior", 2005 (boards filled alike); the vendors' population
        rules.
    """
    channels = _channels(subject)
    filled = {channel: sum(sizes) for channel, sizes in channels.items()}
    empty = [channel for channel, size in filled.items() if not size]
    sizes = {size for size in filled.values() if size}
    if len(filled) < LEAST_CHANNELS or not sizes or (not empty and len(sizes) == 1):
        return
    title: Words = f"{len(empty)} of {len(filled)} memory channels have no module"
    if not empty:
        title = phrase("memory channels hold {:bytes} to {:bytes} each", min(sizes), max(sizes))
    yield subject.violation(
        title,
        cost=f"{CANNOT_JUDGE} whether bandwidth is short: a copy of memory (stream) at the busiest hour tells",
        settings=[row for row in subject.rows if _channel(row) in (empty or filled)][:4],
        severity=Severity.NOTE,
    )


def _channels(subject: Subject) -> dict[str, list[float]]:
    """Sizes of the modules of each channel; none where the slots' names do not say the channel."""
    held: dict[str, list[float]] = {}
    for row in subject.rows:
        channel = _channel(row)
        if channel is not None and row.number is not None:
            held.setdefault(channel, []).append(row.number)
    return held


def _channel(row: Setting) -> str | None:
    """Processor and channel of a slot, by its name; null where that does not say it."""
    if not row.name.startswith("dimm.") or row.name.endswith(".speed_mt_s"):
        return None
    name = row.name.removeprefix("dimm.")
    found = CHANNEL.search(name) or next((one for part in name.split("/") if (one := LETTER.search(part))), None)
    processor = PROCESSOR.search(name)
    return f"{processor[1] if processor else ''}{found[1].upper()}" if found else None
