"""What documents about buckets of time have in common."""

from typing_extensions import TypedDict


class OfBuckets(TypedDict):
    """A time in stretches of `bucket_s`, the first from `start` on (`start_s`: seconds since 1970)."""

    since: str
    until: str
    start: str
    start_s: int
    bucket_s: int
    buckets: int


class Envelope(TypedDict):
    """Of each bucket the mean of its steps, their extremes and quartiles."""

    mean: list[float | None]
    low: list[float | None]
    q1: list[float | None]
    median: list[float | None]
    q3: list[float | None]
    high: list[float | None]
