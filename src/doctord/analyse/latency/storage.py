"""Histograms of what storage answers: of devices, of reads and writes, of a database's waits for them."""

import re
from functools import lru_cache

from doctord.analyse.latency.map import LatencyMap, histograms_of, subjects
from doctord.analyse.latency.modes import NOT_STORAGE, STORAGE
from doctord.dataset.dataset import Dataset
from doctord.dataset.waits.events import kind_of
from doctord.regex import regex

KINDS = ("single read", "multi-block read", "read by another", "data write", "temp", "file operation", "log sync",
         "log write", "control file", "archive", "backup")  # fmt: skip
LOG_KINDS = ("log sync", "log write")
LOG = regex(r"(wal|redo|log).*(sync|flush)|(sync|flush).*(wal|redo|log)", re.IGNORECASE)
# Fewer answers are the first ones of a tool that was just started.
LEAST_COUNT = 100


def is_log(subject: str) -> bool:
    """Whether it is the log that is written to stable storage: a wait event by its kind, what has none by its words."""
    return kind_of(subject) in LOG_KINDS or LOG.search(subject) is not None


def is_storage(subject: str) -> bool:
    """Whether storage answers it: a wait event by its kind, what has none by its words."""
    kind = kind_of(subject)
    if kind is None or kind == "other":
        return STORAGE.search(subject) is not None and NOT_STORAGE.search(subject) is None
    return kind in KINDS


@lru_cache(maxsize=2)  # a dataset under examination, and its past
def storage_histograms(dataset: Dataset) -> tuple[LatencyMap, ...]:
    """The maps of storage in `latency` of which there are enough answers to judge, by subject, server and host."""
    return tuple(
        drawn
        for subject in subjects(dataset, "histogram")
        if subject.count >= LEAST_COUNT and is_storage(subject.name)
        for drawn in histograms_of(dataset, subject)
        if drawn.whole.total >= LEAST_COUNT
    )
