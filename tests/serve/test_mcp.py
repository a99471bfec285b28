"""The tools over streamable HTTP, in both eras of the protocol, without strangers' words unless they are allowed."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from doctord.mcp.withheld import WITHHELD
from http_server import LAKES, served
from http_server import Client as Http
from mcp import Client

ERAS = {"auto": "2026-07-28", "legacy": "2025-11-25"}
WINDOW = {"lake": LAKES[0], "since": "2026-11-23T07:00Z", "until": "2026-11-23T08:00Z"}


def asked(client: Http, talk: Callable[[Client], Awaitable[Any]], era: str = "auto") -> Any:
    """What comes of a talk."""

    async def held() -> Any:
        async with Client(f"{client.address}/mcp", mode=era) as assistant:
            return await talk(assistant)

    return asyncio.run(held())


@pytest.mark.parametrize("era", ERAS)
def test_tools_answer_without_strangers_words(client: Http, era: str) -> None:
    async def talk(assistant: Client) -> None:
        assert assistant.protocol_version == ERAS[era]
        names = [tool.name for tool in (await assistant.list_tools()).tools]
        assert "diagnose" in names
        assert "query_lake" not in names
        load = (await assistant.call_tool("load_by", WINDOW | {"dimension": "statement"})).structured_content
        assert {part["text"] for part in load["hosts"][0]["parts"]} <= {WITHHELD, None}
        verdict = (await assistant.call_tool("diagnose", WINDOW)).structured_content
        assert {name["text"] for name in verdict["names"]} == {WITHHELD}
        assert {one["name"] for one in verdict["top"] if one["kind"] == "program"} == {WITHHELD}
        refused = await assistant.call_tool("load_by", WINDOW | {"dimension": "user"})
        assert refused.is_error
        assert "--show-statements" in refused.content[0].text

    asked(client, talk, era)


def test_words_are_shown_where_that_is_allowed(lakes: list[Path]) -> None:
    async def talk(assistant: Client) -> None:
        names = [tool.name for tool in (await assistant.list_tools()).tools]
        assert "query_lake" in names
        load = (await assistant.call_tool("load_by", WINDOW | {"dimension": "user"})).structured_content
        assert load["hosts"][0]["parts"][0]["name"] == "postgres"

    with served("--show-statements", *(word for lake in lakes for word in ("--lake", lake))) as client:
        asked(client, talk)
