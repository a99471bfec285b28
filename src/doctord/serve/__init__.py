"""The face for browsers and programs: a page, an HTTP API, metrics and MCP, on lakes; it changes nothing."""
