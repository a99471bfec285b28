"""What runs out, and when."""

from typing import Any

from pydantic import Field
from typing_extensions import TypedDict

from doctord.app.capacity.forecast import forecast as forecast_of
from doctord.app.source import Recorded
from doctord.mcp.told import Notes
from doctord.report.capacity.forecast import document
from doctord.serve.lakes import Lakes
from doctord.serve.parameters import OfLake, Text
from doctord.units import parse_duration


class ForecastParameters(OfLake):
    """Of which host, and how far ahead."""

    host: Text | None = Field(None, description="The host, where the lake holds several.")
    horizon: str = Field("90d", max_length=20, description="How far to look ahead.")


class Forecast(TypedDict):
    """The document of `doctord forecast --json`: docs/reference/forecast.md."""

    host: str | None
    horizon_s: float
    history_s: float
    items: list[dict[str, Any]]
    sizes: list[dict[str, Any]]
    others: list[dict[str, Any]]
    notes: list[str]


def forecast(lakes: Lakes, given: ForecastParameters) -> dict[str, Any]:
    """Which thresholds are violated now, which will be, when, and how sure that is; and where sizes grow to."""
    notes = Notes()
    recorded = Recorded(lakes.places[lakes.named(given.lake)], given.host)
    return document(forecast_of(recorded, None, parse_duration(given.horizon), (), notes)) | {"notes": notes.lines}
