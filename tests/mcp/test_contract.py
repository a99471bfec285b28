"""The server as the SDK's own client sees it over standard input and output, in both eras of the protocol."""

import asyncio
import sys
import tarfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp.client.stdio import StdioServerParameters

from doctord.mcp.fitted import MOST_BYTES
from doctord.mcp.tools import TOOLS
from mcp import Client

RECORDING = Path(__file__).parents[1] / "lab/recordings/idle_in_transaction.tar"
ERAS = {"auto": "2026-07-28", "legacy": "2025-11-25"}
BLOCKER = "idle_in_transaction_blocker"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mcp") / "shop"
    with tarfile.open(RECORDING) as recording:
        recording.extractall(path, filter="data")
    return path


def asked(lakes: list[Path], talk: Callable[[Client], Awaitable[Any]], era: str = "auto") -> Any:
    """What comes of a talk with a server of its own."""
    arguments = ["-m", "doctord", "mcp", *(word for lake in lakes for word in ("--lake", str(lake)))]

    async def held() -> Any:
        async with Client(StdioServerParameters(command=sys.executable, args=arguments), mode=era) as client:
            return await talk(client)

    return asyncio.run(held())


@pytest.mark.parametrize("era", ERAS)
def test_every_tool_answers_in_its_schema_and_bounds(lake: Path, era: str) -> None:
    async def talk(client: Client) -> None:
        assert client.protocol_version == ERAS[era]
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == list(TOOLS)
        assert len(tools) <= 10
        held = (await client.call_tool("servers", {})).structured_content["lakes"][0]
        assert (held["lake"], held["hosts"]) == ("shop", ["vm"])
        window = {"since": held["since"], "until": held["until"]}
        half = {"before": f"{held['since']}..2026-11-23T07:05:58Z", "after": f"2026-11-23T07:05:58Z..{held['until']}"}
        arguments = {
            "servers": {},
            "explain_finding": window | {"cause": BLOCKER},
            "load_by": window | {"dimension": "event"},
            "compare_windows": half,
            "capacity": {},
            "query_lake": {"sql": "SELECT event, count(*) AS n FROM session GROUP BY event"},
        }
        for tool in tools:
            assert tool.annotations
            assert tool.annotations.read_only_hint
            answer = await client.call_tool(tool.name, arguments.get(tool.name, window))
            assert not answer.is_error, (tool.name, answer.content)
            assert len(answer.content[0].text.encode()) <= MOST_BYTES
            jsonschema.validate(answer.structured_content, tool.output_schema)
            assert set(answer.structured_content) == set(tool.output_schema["properties"])

    asked([lake], talk, era)


def test_a_wrong_question_is_refused_with_a_hint(lake: Path) -> None:
    async def talk(client: Client) -> None:
        for tool, given, hint in (
            ("diagnose", {"since": "nonsense"}, "write 2026-11-20T10:00Z"),
            ("diagnose", {"since": "2020-01-01T00:00Z", "until": "2020-01-01T01:00Z"}, "the lake holds"),
            ("diagnose", {"lake": "other"}, "lakes: ['shop']"),
            (
                "explain_finding",
                {"cause": "boredom", "since": "2026-11-23T07:00Z", "until": "2026-11-23T08:00Z"},
                BLOCKER,
            ),
            ("load_by", {"dimension": "mood"}, "dimension"),
            ("compare_windows", {"before": "x", "after": "y"}, "FROM..TO"),
        ):
            answer = await client.call_tool(tool, given)
            assert answer.is_error
            assert hint in answer.content[0].text

    asked([lake], talk)


def test_resources_and_prompts_are_there(lake: Path) -> None:
    async def talk(client: Client) -> None:
        page = (await client.read_resource(f"doctord://causes/{BLOCKER}")).contents[0].text
        assert "## Remedy" in page
        for name in ("causes", "rules", "tables", "tables/session", "rules/postgresql/fsync_off"):
            assert (await client.read_resource(f"doctord://{name}")).contents[0].text
        assert {one.name for one in (await client.list_prompts()).prompts} == {"incident", "weekly_review"}
        said = (await client.get_prompt("incident", {"complaint": "checkout hangs"})).messages[0].content.text
        assert "checkout hangs" in said

    asked([lake], talk)
