"""Figures that a few far values do not move."""

import numpy as np

from doctord.analyse.capacity.series import Numbers

NORMAL_MAD = 1.4826  # standard deviation of a normal distribution whose median absolute deviation is 1


def deviation(values: Numbers) -> float:
    """The standard deviation, told by the median absolute deviation from the median; NaN is left out."""
    known = values[~np.isnan(values)]
    return NORMAL_MAD * float(np.median(np.abs(known - np.median(known))))


def noise_floor(values: Numbers) -> float:
    """As much as two values may differ by rounding alone: what noise is at least."""
    return 1e-6 * float(np.nanmedian(np.abs(values))) + 1e-12


def usual_level(values: Numbers) -> float:
    """How large values usually are; never nothing."""
    return float(np.nanmedian(np.abs(values))) or float(np.nanmean(np.abs(values))) or 1.0
