"""Values with their units."""

import pytest

from doctord.report.quantity import quantity


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        (2_097_152_000.0, "bytes", "2.1 GB"),
        (0.0, "bytes", "0 B"),
        (1.5e6, "bytes_per_s", "1.5 MB/s"),
        (81.53, "%", "81.5 %"),
        (12_345.0, "per_s", "12,345 /s"),
        (415_219.0, "blocks_per_s", "415 k blocks/s"),
        (-3.2e12, "bytes", "-3.2 TB"),
        (7.0, "", "7"),
        (None, "ms", "-"),
    ],
)
def test_a_quantity(value: float | None, unit: str, said: str) -> None:
    assert quantity(value, unit) == said
