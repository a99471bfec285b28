"""The capacity report as one HTML file that needs nothing else: no network, no script, light and dark, on paper too."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from markupsafe import Markup

from doctord.analyse.capacity.agenda import Agenda, Entry
from doctord.report import capacity_plot, capacity_report, capacity_strip
from doctord.report import capacity_words as words
from doctord.report.html import environment
from doctord.report.quantity import quantity
from doctord.report.wording import duration

OF_ONE_THRESHOLD = 3  # cards that are open: those of the fourth tablespace and on are folded
OVERVIEW = 12
PLOTS = 200  # a page of more is too large to open quickly
ROWS = 6  # of others, of one threshold; the rest is folded
DATED = ("violated", "date")
STALE_S = 2 * 86_400

Item = Mapping[str, Any]


@dataclass(frozen=True)
class Card:
    """One entry of the report: what the document says of it, and its drawings; of the last ones there is no plot."""

    item: Item
    plot: Markup | None
    strip: Markup


def render(agenda: Agenda, document: Mapping[str, Any], seen: datetime) -> str:
    """The report of an agenda.

    Args:
        agenda: What to draw.
        document: The same as `capacity_report.document_of` says it.
        seen: The present moment; where the newest value is much older, that is said.
    """
    now = agenda.now or seen
    cards = list(_cards(agenda, document, now))
    dated = [card for card in cards if card.item["verdict"] in DATED]
    opened, folded = _split(dated)
    return (
        environment()
        .get_template("capacity_report.html.j2")
        .render(
            document=document,
            verdict=capacity_report.verdict(document),
            counts=document["counts"],
            within=duration(document["within_s"]),
            now=now,
            stale=duration((seen - now).total_seconds()) if (seen - now).total_seconds() > STALE_S else "",
            dated=dated,
            overview=OVERVIEW,
            opened=opened,
            folded=folded,
            perhaps=[card for card in cards if card.item["verdict"] == "perhaps"],
            others=_others(document["items"]),
            rows=ROWS,
            late=sum(card.item["is_late"] for card in dated),
            owners=_owners(dated),
            held="1 figure was" if len(document["items"]) == 1 else f"{len(document['items'])} figures were",
            nearest=_nearest(document["items"]),
            quantity=quantity,
            duration=duration,
            words=words,
            name=capacity_report.name,
        )
    )


def _cards(agenda: Agenda, document: Mapping[str, Any], now: datetime) -> Iterator[Card]:
    within_s = document["within_s"]
    shown = [pair for pair in zip(agenda.entries, document["items"], strict=True) if _is_shown(pair[0])]
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


def _owners(cards: Sequence[Card]) -> list[tuple[str, int]]:
    """Who has plans to begin now, and how many; the empty name stands for plans of nobody."""
    late = [card.item for card in cards if card.item["is_late"]]
    return Counter(item["plan"]["owner"] if item["plan"] else "" for item in late).most_common()


def _others(items: Sequence[Item]) -> list[tuple[str, list[tuple[str, list[Item]]]]]:
    """What is not drawn, by verdict and threshold, the nearest to its limit first."""
    rest = [item for item in items if item["verdict"] not in (*DATED, "perhaps")]
    found = []
    for verdict, some in groupby(rest, key=lambda item: item["verdict"]):
        by_threshold = dict[str, list[Item]]()
        for item in sorted(some, key=_room):
            by_threshold.setdefault(item["threshold"], []).append(item)
        found.append((verdict, list(by_threshold.items())))
    return found


def _nearest(items: Sequence[Item]) -> Item | None:
    """What comes nearest to its limit without passing it."""
    quiet = [item for item in items if item["verdict"] == "not within the horizon"]
    return min(quiet, key=_room, default=None)


def _room(item: Item) -> float:
    """What is left to the limit at the horizon, or now where the horizon is not known, in parts of the limit."""
    ends = item["at_horizon"]["mean"] if item["at_horizon"] else item["newest"]
    left = item["limit"] - ends if item["worse"] == "above" else ends - item["limit"]
    return float(left / (abs(item["limit"]) or abs(item["newest"]) or 1.0))
