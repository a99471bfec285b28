"""Histograms of storage latencies, where nothing else tells of the devices or of those who wait."""

from collections.abc import Iterator

from doctord.analyse.latency.storage import is_log, storage_histograms
from doctord.diagnose.case import Case
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence
from doctord.diagnose.phrase import phrase


def slow_histograms(case: Case, least_ms: float, *, of_logs: bool = False) -> Iterator[Claim]:
    """What storage takes a time for, on average, that no device at work needs; a test's depth sets its own latency.

    Those of logs alone with `of_logs`, which each commit waits for, else all others.
    """
    if case.is_time_measured or case.is_storage_test or not case.dataset.frame("disk").is_empty():
        return
    for drawn in storage_histograms(case.dataset):
        whole = drawn.whole
        if is_log(drawn.subject) is not of_logs or (mean_ms := whole.time.us / 1e3 / whole.total) < least_ms:
            continue
        yield Claim(
            phrase("{} is slow: {:.0f ms} on average", drawn.subject, mean_ms),
            impact=NOT_MEASURED,
            confidence=0.6,
            for_=[
                Evidence("latency", f"subject = '{drawn.subject}'", phrase("{:.0f ms} on average", mean_ms),
                         phrase("{:.0f ms}", least_ms), phrase("{:,} of them", whole.total), "at_least"),
            ],
        )  # fmt: skip
