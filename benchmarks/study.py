"""How often `doctord study` is wrong: equal periods told apart, changes that it misses, intervals without the truth.

Periods are drawn at random: series whose rows resemble their neighbours (AR(1), and the same below independent noise),
as figures of a server do, and a server whose cost of a commit grows with its load. Their peers, Welch's t test and
Mann-Whitney's, take each row for independent. Writes docs/reference/study-accuracy.md.

    .venv/bin/python benchmarks/study.py [--pairs 2000] [--write]
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from scipy.signal import lfilter
from scipy.stats import mannwhitneyu, ttest_ind

from doctord.analyse.study.compare import Row, judged
from doctord.analyse.study.difference import difference, noise_of
from doctord.analyse.study.load import cost_difference
from doctord.analyse.study.measure import Key
from doctord.analyse.study.samples import Numbers, Samples

PAGE = Path(__file__).parents[1] / "docs/reference/study-accuracy.md"
CHANGES = (0.0, 0.03, 0.05, 0.10)
ALPHA = 0.05
SPREAD = 0.15  # of rows, as a share of their mean
BURN_IN = 500

Draw = Callable[[np.random.Generator, int], Samples]


def autocorrelated(rng: np.random.Generator, rows: int, share: float) -> Numbers:
    """AR(1) of mean 0 and variance 1."""
    steps = rng.normal(size=rows + BURN_IN) * np.sqrt(1 - share**2)
    return np.asarray(lfilter([1.0], [1.0, -share], steps)[BURN_IN:], dtype=np.float64)


def of_share(share: float, rng: np.random.Generator, rows: int) -> Samples:
    """A latency that wanders: each row holds this share of the one before."""
    return Samples.of(np.exp(SPREAD * autocorrelated(rng, rows, share)), 1.0, 1.0)


def under_noise(share: float, rng: np.random.Generator, rows: int) -> Samples:
    """The same, half of its variance from row to row without any memory."""
    both = autocorrelated(rng, rows, share) + rng.normal(size=rows)
    return Samples.of(np.exp(SPREAD * both / np.sqrt(2)), 1.0, 1.0)


def of_load(share: float, rng: np.random.Generator, rows: int) -> Samples:
    """A server at a load that wanders by a fifth; the cost of a commit grows half as fast as the load."""
    load = np.maximum(5.0, 100 + 20 * autocorrelated(rng, rows, share))
    cost = (1 + 0.5 * (load - 100) / 100) * np.exp(SPREAD * autocorrelated(rng, rows, share))
    return Samples.of(cost * load, load, 1.0)


@dataclass
class Score:
    """Of one kind of period: how many pairs, and how many of them were judged, told apart, and held the truth."""

    name: str
    rows: int
    pairs: int = 0
    told: int = 0
    apart: dict[float, int] = field(default_factory=lambda: dict.fromkeys(CHANGES, 0))
    held: dict[float, int] = field(default_factory=lambda: dict.fromkeys(CHANGES, 0))
    welch: int = 0
    mann_whitney: int = 0

    def add(self, before: Samples, after: Samples, *, is_load: bool) -> None:
        """Judge a pair, as it is and with each change planted."""
        self.pairs += 1
        noise = noise_of(before)
        for change in CHANGES:
            planted = Samples(after.amount * (1 + change), after.per, after.seconds)
            found = cost_difference(before, planted)[0] if is_load else difference(before, planted)
            if found.low is None or found.high is None:
                return
            (row,) = judged([Row(Key("figure", "latency"), "ms", "low", found, noise=noise)])
            self.apart[change] += row.outcome in {"better", "worse"}
            self.held[change] += found.low <= 1 + change <= found.high
        self.told += 1
        rows = before.amount / before.per, after.amount / after.per
        self.welch += ttest_ind(*rows, equal_var=False).pvalue < ALPHA
        self.mann_whitney += mannwhitneyu(*rows).pvalue < ALPHA

    def line(self) -> str:
        """Its line of the table."""
        shares = [self.apart[change] / self.pairs for change in CHANGES]
        coverage = [self.held[change] / max(1, self.told) for change in CHANGES[1:]]
        cells = [
            self.name, str(self.rows), f"{self.told / self.pairs:.0%}", f"**{shares[0]:.1%}**",
            f"{self.mann_whitney / max(1, self.told):.0%}", f"{self.welch / max(1, self.told):.0%}",
            *(f"{share:.0%}" for share in shares[1:]), f"**{np.mean(coverage):.1%}**",
        ]  # fmt: skip
        return f"| {' | '.join(cells)} |"


KINDS: tuple[tuple[str, int, Draw, bool], ...] = (
    ("independent rows", 600, partial(of_share, 0.0), False),
    ("half of the row before", 600, partial(of_share, 0.5), False),
    ("eight tenths", 600, partial(of_share, 0.8), False),
    ("nine tenths", 600, partial(of_share, 0.9), False),
    ("nine tenths", 3600, partial(of_share, 0.9), False),
    ("nine tenths, under noise", 3600, partial(under_noise, 0.9), False),
    ("a cost that grows with the load", 1800, partial(of_load, 0.8), True),
)


def scores(pairs: int) -> Iterator[Score]:
    """The score of each kind, over so many pairs."""
    for number, (name, rows, draw, is_load) in enumerate(KINDS):
        rng, score = np.random.default_rng(number), Score(name, rows)
        for _ in range(pairs):
            score.add(draw(rng, rows), draw(rng, rows), is_load=is_load)
        print(score.line(), flush=True)
        yield score


def page(found: list[Score], pairs: int) -> str:
    """The page with the table."""
    heads = (
        "rows resemble their neighbours", "rows", "judged", "equal told apart", "by Mann-Whitney", "by Welch",
        "3 % found", "5 % found", "10 % found", "intervals that hold the truth",
    )  # fmt: skip
    lines = "\n".join(score.line() for score in found)
    return f"""# How often a study is right

Made by `.venv/bin/python benchmarks/study.py --write`: {pairs:,} pairs of periods of each kind, drawn at random, a row
a second, whose rows spread by {SPREAD:.0%} of their mean.

- *Judged*: an interval could be told, for the period was long enough for how long its rows resemble each other.
- *Equal told apart*: pairs of one and the same server with a verdict of better or worse, of all pairs; 5 % are allowed.
  Mann-Whitney's and Welch's tests take every row for independent: what they say of the judged pairs stands beside it.
- *Found*: pairs after which a change of so much was planted and told, of all pairs; smaller ones need longer periods,
  and the noise that a study prints says how much smaller.
- *Intervals that hold the truth*, of the judged pairs over the three planted changes: they are of 95 %, and 93 to 97 %
  are asked for.

| {" | ".join(heads)} |
|{"---|" * len(heads)}
{lines}

Recordings of the lab last 20 seconds, in which load is counted four times: too few for any interval, and a study of two
of them says so. [On real servers](study-accuracy-live.md), whose periods differ by more than chance, it was measured by
itself. What is not shown here: periods with a rhythm of the day; a study holds the halves of the period before against
each other, and says where these differ.
"""


def main() -> None:
    """Measure, print, and write the page where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    found = list(scores(asked.pairs))
    if asked.write:
        PAGE.write_text(page(found, asked.pairs), encoding="utf-8")


if __name__ == "__main__":
    main()
