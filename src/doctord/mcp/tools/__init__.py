"""The tools, a function each: it takes the lakes, and what its parameters say, and gives a document that fits.

The docstring of a function is what an assistant reads of it; its parameters are described where they are annotated.
"""

from collections.abc import Callable
from typing import Any, Final

from doctord.mcp.tools.capacity import capacity
from doctord.mcp.tools.changes import compare_windows, what_changed
from doctord.mcp.tools.diagnosis import diagnose, explain_finding
from doctord.mcp.tools.latency import latency_map
from doctord.mcp.tools.load import load_by
from doctord.mcp.tools.query import query_lake
from doctord.mcp.tools.servers import servers
from doctord.mcp.tools.settings import lint

# In the order in which they are listed: where to begin comes first.
TOOLS: Final[dict[str, Callable[..., Any]]] = {
    tool.__name__: tool
    for tool in (
        servers,
        diagnose,
        explain_finding,
        load_by,
        compare_windows,
        what_changed,
        latency_map,
        capacity,
        lint,
        query_lake,
    )
}
