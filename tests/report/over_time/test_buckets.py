"""Buckets in documents, and as columns."""

import numpy as np

from doctord.report.over_time.buckets import columns, values_of


def test_what_was_not_measured_is_null() -> None:
    assert values_of(np.array([1.0, np.nan, 0.123456789])) == [1.0, None, 0.12346]


def test_columns_have_the_names_that_lead_to_them() -> None:
    told = {
        "start_s": 60,
        "bucket_s": 10,
        "buckets": 2,
        "bands": [{"name": "a", "values": [1.0, 2.0]}, {"name": None, "values": [3.0, None]}],
        "others": None,
        "total": {"mean": [4.0, 2.0], "high": [5.0, 2.0]},
    }
    numbers, about = columns(told)
    assert numbers == {
        "start_s": [60, 70],
        "bands.0.values": [1.0, 2.0],
        "bands.1.values": [3.0, None],
        "total.mean": [4.0, 2.0],
        "total.high": [5.0, 2.0],
    }
    assert about["bands"] == [{"name": "a"}, {"name": None}]
    assert about["total"] == {}
    assert (about["others"], about["bucket_s"]) == (None, 10)
