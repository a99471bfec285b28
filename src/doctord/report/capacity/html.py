"""The capacity report as one HTML file that needs nothing else: no network, no script, light and dark, on paper too."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from markupsafe import Markup

from doctord.analyse.capacity.action_plan import ActionPlan, Entry
from doctord.report.capacity import plot as capacity_plot
from doctord.report.capacity import report as capacity_report
from doctord.report.capacity import strip as capacity_strip
from doctord.report.capacity import words
from doctord.report.diagnosis.html import environment
from doctord.units import duration, quantity

OF_ONE_THRESHOLD = 3  # are open: the fourth tablespace and on are folded
PERHAPS = 6
OVERVIEW = 12
PLOTS = 200  # a page of more is too large to open quickly
ROWS = 12  # of what is not drawn; the rest is folded
DATED = ("violated", "date")
HOSTS = 3  # are named on top
STALE_S = 2 * 86_400

Item = Mapping[str, Any]


@dataclass(frozen=True)
class Card:
    """One entry of the report: what the document says of it, and its drawings; of the last ones there is no plot."""

    item: Item
    plot: Markup | None
    strip: Markup


def render(action_plan: ActionPlan, document: Mapping[str, Any], seen: datetime) -> str:
    """The report of an agenda.

    Args:
        action_plan: What to draw.
        document: The same as `capacity_report.document_of` says it.
        seen: The present moment; where the newest value is much older, that is said.
    """
    now = action_plan.now or seen
    cards = list(_cards(action_plan, document, now))
    dated = [card for card in cards if card.item["verdict"] in DATED]
    opened, folded = _split(dated)
    return (
        environment()
        .get_template("capacity/page.html.j2")
        .render(
            document=document,
            verdict=capacity_report.verdict(document),
            within=duration(document["within_s"]),
            now=now,
            stale=(seen - now).days if (seen - now).total_seconds() > STALE_S else 0,
            dated=dated,
            overview=OVERVIEW,
            opened=opened,
            folded=folded,
            perhaps=[card for card in cards if card.item["verdict"] == "perhaps"],
            others=_others(document["items"]),
            perhaps_open=PERHAPS,
            hosts=_hosts(document["items"]),
            owners=_owners(dated),
            unplanned=sum(card.item["plan"] is None for card in dated),
            nearest=_nearest(document["items"]),
            quantity=quantity,
            duration=duration,
            words=words,
            name=capacity_report.name,
        )
    )


def _cards(action_plan: ActionPlan, document: Mapping[str, Any], now: datetime) -> Iterator[Card]:
    within_s = document["within_s"]
    shown = [pair for pair in zip(action_plan.entries, document["items"], strict=True) if _is_shown(pair[0])]
    for number, (entry, item) in enumerate(shown):
        # The serialiser of XML escaped what is in the drawings.
        plot = Markup(capacity_plot.svg(entry, within_s)) if number < PLOTS else None  # noqa: S704 - see above
        text = f"{capacity_report.name(item)}: {words.when(item, now)}"
        yield Card(item, plot, Markup(capacity_strip.svg(entry, now, within_s, text)))  # noqa: S704 - see above


def _is_shown(entry: Entry) -> bool:
    return entry.verdict in (*DATED, "perhaps")


def _split(cards: Sequence[Card]) -> tuple[list[Card], dict[str, list[Card]]]:
    """The first of each threshold, and the rest by threshold."""
    opened, folded, count = list[Card](), dict[str, list[Card]](), Counter[str]()
    for card in cards:
        threshold = card.item["threshold"]
        count[threshold] += 1
        (opened if count[threshold] <= OF_ONE_THRESHOLD else folded.setdefault(threshold, [])).append(card)
    return opened, folded


def _owners(cards: Sequence[Card]) -> dict[str, int]:
    """Who has plans to begin now, and how many; an empty name where none is named."""
    late = [card.item for card in cards if card.item["is_late"] and card.item["plan"]]
    return dict(Counter(item["plan"]["owner"] for item in late).most_common())


def _others(items: Sequence[Item]) -> list[tuple[str, list[Item], list[Item]]]:
    """What is not drawn, by verdict, the nearest to its limit first: what stands in the table, and what is folded."""
    rest = [item for item in items if item["verdict"] not in (*DATED, "perhaps")]
    found = []
    for verdict, some in groupby(rest, key=lambda item: item["verdict"]):
        shown, folded, count = list[Item](), list[Item](), Counter[str]()
        for item in sorted(some, key=_room):
            count[item["threshold"]] += 1
            is_first = count[item["threshold"]] <= OF_ONE_THRESHOLD and len(shown) < ROWS
            (shown if is_first else folded).append(item)
        found.append((verdict, shown, folded))
    return found


def _hosts(items: Sequence[Item]) -> str:
    """The hosts, or how many they are."""
    names = sorted({item["host"] for item in items if item["host"]})
    return ", ".join(names) if len(names) <= HOSTS else f"{len(names)} hosts"


def _nearest(items: Sequence[Item]) -> Item | None:
    """What comes nearest to its limit without passing it."""
    quiet = [item for item in items if item["verdict"] == "not within the horizon"]
    return min(quiet, key=_room, default=None)


def _room(item: Item) -> float:
    """What is left to the limit at the horizon, or now where the horizon is not known, in parts of the limit."""
    ends = item["at_horizon"]["mean"] if item["at_horizon"] else item["newest"]
    left = item["limit"] - ends if item["worse"] == "above" else ends - item["limit"]
    return float(left / (abs(item["limit"]) or abs(item["newest"]) or 1.0))
