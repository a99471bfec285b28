"""Where figures go: models compared by backtest, intervals calibrated on it, and when a threshold is violated."""

from doctord.analyse.capacity.forecast.ahead import forecast
from doctord.analyse.capacity.forecast.crossing import When, when
from doctord.analyse.capacity.forecast.result import Forecast

__all__ = ["Forecast", "When", "forecast", "when"]
