"""Where figures go: models compared by backtest, intervals calibrated on it, and when a threshold is violated."""

from doctord.analyse.capacity.forecast.breach_date import When, when
from doctord.analyse.capacity.forecast.predict import forecast
from doctord.analyse.capacity.forecast.result import Forecast

__all__ = ["Forecast", "When", "forecast", "when"]
