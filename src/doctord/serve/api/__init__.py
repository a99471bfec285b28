"""The endpoints of the API, a file a subject."""

from typing import Final

from doctord.mcp.tools.changes import Changes
from doctord.serve.api.capacity import Forecast, ForecastParameters, forecast
from doctord.serve.api.events import ChangesParameters, Events, EventsParameters, changes, events
from doctord.serve.api.findings import Findings, FindingsParameters, findings
from doctord.serve.api.latencies import Map, MapParameters, latency_map
from doctord.serve.api.load import Dimensions, Filtered, Load, LoadParameters, load, load_dimensions
from doctord.serve.api.locks import Blocking, BlockingParameters, blocking
from doctord.serve.api.series import Figures, Series, SeriesParameters, figures, series
from doctord.serve.api.servers import Servers, servers
from doctord.serve.api.statements import Statement, StatementParameters, statement
from doctord.serve.endpoint import Endpoint
from doctord.serve.parameters import OfLake, OfTime

ENDPOINTS: Final = (
    Endpoint("/servers", servers, OfLake, Servers, fresh_s=5),
    Endpoint("/load", load, LoadParameters, Load, is_tabular=True),
    Endpoint("/load/dimensions", load_dimensions, Filtered, Dimensions),
    Endpoint("/findings", findings, FindingsParameters, Findings, runs="process", fresh_s=10, longest_h=6),
    Endpoint("/figures", figures, OfTime, Figures),
    Endpoint("/series", series, SeriesParameters, Series, is_tabular=True),
    Endpoint("/blocking", blocking, BlockingParameters, Blocking, runs="process", fresh_s=5, longest_h=24),
    Endpoint("/statement/{id}", statement, StatementParameters, Statement),
    Endpoint("/events", events, EventsParameters, Events),
    Endpoint("/changes", changes, ChangesParameters, Changes, runs="process", fresh_s=10, longest_h=6),
    Endpoint("/map", latency_map, MapParameters, Map, runs="process", fresh_s=5, longest_h=12),
    Endpoint("/forecast", forecast, ForecastParameters, Forecast, runs="process", fresh_s=300),
)
