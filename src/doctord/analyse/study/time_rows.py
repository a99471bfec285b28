"""Database time of two periods, a unit of load or a second: as a whole, and by what it went into."""

from itertools import chain
from typing import Final

from doctord.analyse.study.compare import Row
from doctord.analyse.study.difference import difference, noise_of
from doctord.analyse.study.load import Loads, cost_difference
from doctord.analyse.study.measure import Better, Key
from doctord.analyse.study.samples import Numbers
from doctord.analyse.study.spent import UNITS, Spent
from doctord.errors import UserError

DATABASE_TIME: Final = Key("time", "database time")


def unit_of(before: Spent, after: Spent, asked: str | None = None) -> str | None:
    """The unit of load that both periods count; null where there is none.

    Raises:
        UserError: one is asked for that they do not both count.
    """
    known = [one for one in UNITS if all(_is_counted(period, one) for period in (before, after))]
    if asked and asked not in known:
        there = f"both count: {', '.join(known)}" if known else "there is none that both count"
        raise UserError(f"there is no load {asked!r} in both periods", there)
    return asked or next(iter(known), None)


def time_rows(before: Spent, after: Spent, unit: str | None) -> tuple[list[Row], Loads | None]:
    """Rows of database time, the whole first and then its parts, the largest first; the loads of the whole."""
    whole, loads = _row(DATABASE_TIME, before, after, (before.whole, after.whole), unit)
    events = dict.fromkeys(chain(before.by_event, after.by_event))
    parts = [
        _row(Key("time", event), before, after, (before.of_event(event), after.of_event(event)), unit)[0]
        for event in events
    ]
    return [whole, *sorted(parts, key=lambda row: -max(row.before or 0.0, row.after or 0.0))], loads


def throughput(before: Spent, after: Spent, unit: str, better: Better | None) -> Row:
    """Units of load a second."""
    own, other = (one.samples(one.loads[unit], None) for one in (before, after))
    return Row(Key("figure", f"{unit}s a second"), "per_s", better, difference(own, other), noise=noise_of(own))


def _row(
    key: Key, before: Spent, after: Spent, amounts: tuple[Numbers | None, Numbers | None], unit: str | None
) -> tuple[Row, Loads | None]:
    pairs = zip((before, after), amounts, strict=True)
    own, other = (None if amount is None else period.samples(amount, unit) for period, amount in pairs)
    found, loads = cost_difference(own, other) if own and other and unit else (difference(own, other), None)
    spent_s = [
        None if amount is None or not period.seconds.sum() else float(amount.sum() / period.seconds.sum())
        for period, amount in zip((before, after), amounts, strict=True)
    ]
    noise = noise_of(own) if own else None
    told = "s" if unit else "s_per_s"
    return Row(key, told, "low", found, seconds=(spent_s[0], spent_s[1]), noise=noise), loads


def _is_counted(one: Spent, unit: str) -> bool:
    return unit in one.loads and float(one.samples(one.whole, unit).per.sum()) > 0
