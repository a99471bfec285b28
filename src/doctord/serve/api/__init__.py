"""The endpoints of the API, a file a subject."""

from typing import Final

from doctord.serve.api.findings import Findings, FindingsParameters, findings
from doctord.serve.api.load import Dimensions, Filtered, Load, LoadParameters, load, load_dimensions
from doctord.serve.api.servers import Servers, servers
from doctord.serve.endpoint import Endpoint
from doctord.serve.parameters import OfLake

ENDPOINTS: Final = (
    Endpoint("/servers", servers, OfLake, Servers),
    Endpoint("/load", load, LoadParameters, Load, is_tabular=True),
    Endpoint("/load/dimensions", load_dimensions, Filtered, Dimensions),
    Endpoint("/findings", findings, FindingsParameters, Findings, runs="process"),
)
