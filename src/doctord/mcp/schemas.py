"""The form of each tool's answer, from which its schema is made."""

from typing import Any, Final

from doctord.mcp.tools.capacity import Capacity
from doctord.mcp.tools.changes import Changes, Compared
from doctord.mcp.tools.diagnosis import Diagnosis, Explained
from doctord.mcp.tools.latency import Latencies
from doctord.mcp.tools.load import Loads
from doctord.mcp.tools.query import Rows
from doctord.mcp.tools.servers import Servers
from doctord.mcp.tools.settings import Linted

SCHEMAS: Final[dict[str, Any]] = {
    "servers": Servers,
    "diagnose": Diagnosis,
    "explain_finding": Explained,
    "load_by": Loads,
    "compare_windows": Compared,
    "what_changed": Changes,
    "latency_map": Latencies,
    "capacity": Capacity,
    "lint": Linted,
    "query_lake": Rows,
}
