"""Resources: what is documented of causes, rules and tables."""

from typing import Any, Final

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError

from doctord.report import handbook

MARKDOWN: Final = "text/markdown"


def add_resources(server: MCPServer[Any]) -> None:
    """Let a server have a list of causes, of rules and of tables, and a page for each of them."""

    @server.resource("doctord://causes", mime_type=MARKDOWN)
    def causes() -> str:
        """Every cause that `diagnose` knows, a line each."""
        return handbook.causes()

    @server.resource("doctord://causes/{name}", mime_type=MARKDOWN)
    def cause(name: str) -> str:
        """What a cause looks like, why it hurts, what speaks for and against it, remedy, how to verify it, source."""
        return _found(handbook.cause(name), name)

    @server.resource("doctord://rules", mime_type=MARKDOWN)
    def rules() -> str:
        """Every rule on settings that `lint` knows, a line each."""
        return handbook.rules()

    @server.resource("doctord://rules/{component}/{name}", mime_type=MARKDOWN)
    def rule(component: str, name: str) -> str:
        """Why a setting is wrong, evidence, fix, how to verify it, source."""
        return _found(handbook.rule(f"{component}/{name}"), name)

    @server.resource("doctord://tables", mime_type=MARKDOWN)
    def tables() -> str:
        """Every table that `query_lake` can read, a line each."""
        return handbook.tables()

    @server.resource("doctord://tables/{name}", mime_type=MARKDOWN)
    def table(name: str) -> str:
        """The columns of a table."""
        return _found(handbook.table(name), name)


def _found(page: str | None, name: str) -> str:
    if page is None:
        raise ResourceNotFoundError(f"there is no {name!r}")
    return page
