"""Reports are read where the clock shows UTC, wherever the tests run."""

from collections.abc import Iterator

import pytest

from zones import in_zone


@pytest.fixture(autouse=True)
def reader_on_utc() -> Iterator[None]:
    """Nothing beside UTC is to be said."""
    with in_zone("UTC"):
        yield
