"""What the error log of MariaDB or MySQL tells of the server's life: events `restart`, a line each."""

from typing import Final

import polars as pl

# The line that begins each start: the first of these that a log has.
_BEGINS: Final = (
    "Starting MariaDB|starting as process",
    "mysqld_safe Starting|mysqld restarted",
    "ready for connections",
)
_ENDED: Final = r"got signal \d+|Assertion failure|We intentionally crash the server"
# What a start says that follows a crash, or a kill -9, which nobody wrote down.
RECOVERS: Final = r"Starting (XA )?crash recovery|crash recovery from checkpoint|was not shut ?down normally"
_LIFE: Final = "|".join([*_BEGINS, _ENDED, RECOVERS, "Normal shutdown", "Shutdown complete", "Received SHUTDOWN"])
_START: Final = "#start"


def crashes(told: pl.DataFrame) -> pl.DataFrame:
    """Of what is told of a server's life its crashes: by how it ended, or by the starts that had to recover."""
    recovered = _by_start(told).filter(pl.col("text").str.contains(RECOVERS))
    recovered = recovered.unique(_START, keep="first", maintain_order=True).drop(_START)
    ended = told.filter(pl.col("text").str.contains(_ENDED))
    return max(ended, recovered, key=lambda each: each.height)


def starts(told: pl.DataFrame) -> pl.DataFrame:
    """Of what is told its starts, but for those after a crash; and what no log says of its life."""
    text, parts = pl.col("text"), _by_start(told)
    after_crash = parts.filter(text.str.contains(RECOVERS))[_START].implode()
    is_start = text.str.contains(_begins(told)) & ~pl.col(_START).is_in(after_crash)
    return parts.filter(is_start | ~text.str.contains(_LIFE).fill_null(value=False)).drop(_START)


def _by_start(told: pl.DataFrame) -> pl.DataFrame:
    """Each line with the number of the start that it follows."""
    return told.with_columns(pl.col("text").str.contains(_begins(told)).cum_sum().alias(_START))


def _begins(told: pl.DataFrame) -> str:
    return next((one for one in _BEGINS if told["text"].str.contains(one).any()), _BEGINS[0])
