"""What messages of PostgreSQL's log mean that are no errors of statements: `log_messages.csv`.

Warnings, and messages of severity LOG that tell of something that failed, by words of the English message; the first
that fit count. In words of its own, after the server's sources (versions 13 to 18) and documentation.
"""

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

USUAL: Final = "usual"


@dataclass(frozen=True, slots=True)
class Known:
    """A message that is known by its `words`.

    `severity` is that of a finding on it; `usual` for what healthy servers say too, or what its own cause counts.
    `causes` are those that speak of the same thing; `meaning` and `collect` are empty where nothing is to be said.
    """

    words: str
    severity: str
    causes: tuple[str, ...]
    meaning: str
    collect: str


def known(message: str) -> Known | None:
    """What is known of a message; null where its words are not.

    >>> known('configuration file "?" contains errors; no changes were applied').severity
    'warning'
    >>> known("something new") is None
    True
    """
    lower = message.lower()
    return next((one for one in messages() if one.words in lower), None)


@cache
def messages() -> tuple[Known, ...]:
    """All that are known."""
    with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        return tuple(
            Known(line["words"], line["severity"], tuple(line["causes"].split()), line["meaning"], line["collect"])
            for line in csv.DictReader(file)
        )
