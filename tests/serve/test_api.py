"""The API against a real server: every resource answers in its schema, and what was asked for wrongly is refused."""

import json
from typing import Any

import jsonschema
import pyarrow as pa
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from doctord.serve.api import ENDPOINTS
from doctord.serve.openapi import ARROW, PREFIX
from http_server import LAKES, Client

# That whatever a schema allows is answered, is no promise of ours: of most times and lakes there is nothing.
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
STATEMENT = "5812186252248936594"  # of the row lock convoy
NEEDED: dict[str, dict[str, Any]] = {
    "/series": {"figure": "cpu_used_pct"},
    "/changes": {"before": "2026-11-23T07:07:11Z..2026-11-23T07:07:18Z", "from_": "2026-11-23T07:07:18Z"},
}


@pytest.fixture(scope="module")
def described(client: Client) -> Any:
    return client.ask(f"{PREFIX}/openapi.json").document


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.name)
def test_every_resource_answers_in_its_schema(client: Client, described: Any, endpoint: Any) -> None:
    reply = client.get(endpoint.path.lstrip("/").replace("{id}", STATEMENT), **NEEDED.get(endpoint.path, {}))
    assert reply.status == 200, reply.body
    told = described["paths"][PREFIX + endpoint.path]["get"]["responses"]["200"]["content"]["application/json"]
    name = told["schema"]["$ref"].rpartition("/")[2]
    schema = described["components"]["schemas"][name] | {"components": described["components"]}
    jsonschema.validate(reply.document, schema)
    assert set(reply.document) >= set(schema["properties"])


def test_bands_and_others_add_up_to_the_total(client: Client) -> None:
    load = client.get("load", by="session", top=5, buckets=20, from_="2026-11-23T07:07:11Z").document
    assert load["others"]["names"] > 0
    bands = [band["values"] for band in (*load["bands"], load["others"])]
    for number, mean in enumerate(load["total"]["mean"]):
        if mean is not None:
            assert sum(values[number] for values in bands) == pytest.approx(mean, rel=0.001)
    assert [band["sessions"] for band in load["bands"]] == sorted((b["sessions"] for b in load["bands"]), reverse=True)
    total = load["total"]
    for low, q1, median, q3, high in zip(*(total[name] for name in ("low", "q1", "median", "q3", "high")), strict=True):
        assert low is None or low <= q1 <= median <= q3 <= high


def test_the_load_leads_to_the_lock_in_four_steps(client: Client) -> None:
    where: list[str] = []
    for by in ("wait_class", "event", "statement"):
        largest = client.get("load", by=by, where=where).document["bands"][0]
        where.append(f"{by}:{largest['name']}")
    assert where == ["wait_class:Application", "event:transactionid", f"statement:{STATEMENT}"]
    assert largest["text"].startswith("update pgbench_branches")


def test_a_filter_of_nothing_is_of_sessions_that_tell_none(client: Client) -> None:
    blocked = client.get("load", by="blocker").document
    free = next(band for band in blocked["bands"] if band["name"] is None)
    assert client.get("load", where="blocker:").document["sessions"] == pytest.approx(free["sessions"], rel=0.001)
    both = client.get("load", where=["event:tuple", "event:transactionid"]).document
    assert both["sessions"] > client.get("load", where="event:tuple").document["sessions"]


def test_the_dimension_that_explains_comes_first(client: Client) -> None:
    first = client.get("load/dimensions", lake=LAKES[1]).document["dimensions"][0]
    assert (first["dimension"], first["share"]) == ("blocker", 1.0)


def test_the_blocking_tree_has_the_idle_transaction_at_its_root(client: Client) -> None:
    tree = client.get("blocking", lake=LAKES[1], from_="2026-11-23T07:05:50Z", buckets=4).document["trees"][0]
    assert (tree["state"], tree["program"]) == ("idle in transaction", "month-end report")
    assert len(tree["below"]) == 4
    assert tree["behind_s"] == pytest.approx(sum(one["waited_s"] for one in tree["below"]), rel=0.001)


def test_a_spike_of_one_sample_is_seen_at_every_zoom(client: Client) -> None:
    fine = client.get("series", figure="cpu_used_pct", buckets=1200, from_="2026-11-23T07:07:11Z").document
    coarse = client.get("series", figure="cpu_used_pct", buckets=1, from_="2026-11-23T07:07:11Z").document
    highest = max(value for value in fine["series"][0]["high"] if value is not None)
    assert coarse["series"][0]["high"] == [highest]


@pytest.mark.parametrize("resource", ["load", "series"])
def test_arrow_has_the_same_numbers(client: Client, resource: str) -> None:
    given = {"figure": "cpu_used_pct"} if resource == "series" else {}
    told = client.get(resource, buckets=50, **given).document
    reply = client.get(resource, buckets=50, **given, headers={"Accept": ARROW})
    table = pa.ipc.open_stream(reply.body).read_all()
    assert reply.headers["content-type"] == ARROW
    path, values = (
        ("series.0.high", told["series"][0]["high"]) if resource == "series" else ("total.high", told["total"]["high"])
    )
    assert table[path].to_pylist() == values
    assert table["start_s"].to_pylist()[0] == told["start_s"]
    assert json.loads(table.schema.metadata[b"doctord"])["bucket_s"] == told["bucket_s"]


def test_what_is_past_is_not_sent_twice(client: Client) -> None:
    first = client.get("load")
    again = client.get("load", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status, again.body) == (304, b"")
    assert client.get("load", headers={"If-None-Match": '"other"'}).status == 200
    assert client.get("load", headers={"Accept": ARROW}).headers["etag"] != first.headers["etag"]


@pytest.mark.parametrize(
    ("resource", "given", "status", "hint"),
    [
        ("load", {"lake": "nowhere"}, 422, "row_lock_convoy"),
        ("load", {"lake": None}, 422, "lakes:"),
        ("load", {"buckets": 1201}, 400, "buckets"),
        ("load", {"buckets": "many"}, 400, "buckets"),
        ("load", {"by": "mood"}, 400, "parameters are"),
        ("load", {"where": "mood:good"}, 400, "parameters are"),
        ("load", {"where": ["event:a"] * 13}, 400, "parameters are"),
        ("load", {"from_": "nonsense"}, 422, "write 2026"),
        ("load", {"from_": "2026-11-23T08:00Z", "to": "2026-11-23T07:00Z"}, 422, "before"),
        ("load", {"surprise": "1"}, 400, "parameters are"),
        ("load", {"where": "event:" + "x" * 900, "surprise": "y" * 8000}, 414, "fewer"),
        ("findings", {"from_": "2020-01-01T00:00", "to": "2020-01-01T01:00"}, 422, "the lake holds"),
        ("series", {}, 400, "figure"),
        ("series", {"figure": "mood"}, 422, "/figures"),
        ("series", {"figure": "cpu.host"}, 422, "/figures"),
        ("series", {"figure": "disk.util_pct", "from_": "2026-01-01"}, 422, "kept for years"),
        ("statement/1", {}, 422, "by=statement"),
        ("findings", {"from_": "2026-11-22T07:07:27Z"}, 422, "zoom in"),
        ("blocking", {"from_": "2026-11-01T07:07:27Z"}, 422, "24 hours"),
        ("nothing", {}, 404, "openapi.json"),
    ],
)
def test_a_wrong_question_is_refused_with_a_hint(
    client: Client, resource: str, given: dict[str, Any], status: int, hint: str
) -> None:
    reply = client.get(resource, **given)
    assert reply.status == status, reply.body
    assert reply.headers["content-type"] == "application/problem+json"
    assert hint in reply.document["hint"] + reply.document["detail"]
    assert reply.document["status"] == status


def test_nothing_is_changed_by_other_methods(client: Client) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        assert client.ask(f"{PREFIX}/servers", method=method, body=b"{}").status == 405


# What runs in a process of its own takes a second and more.
EXAMPLES = [(one.path, 40 if one.runs == "thread" else 8) for one in ENDPOINTS]


@pytest.mark.parametrize(("path", "examples"), EXAMPLES)
def test_whatever_a_schema_allows_or_forbids_is_answered_without_an_error_of_ours(
    client: Client, described: Any, path: str, examples: int
) -> None:
    schema = schemathesis.openapi.from_dict(described)
    operation = schema[PREFIX + path]["GET"]
    cases = st.one_of(
        operation.as_strategy(generation_mode=schemathesis.GenerationMode.POSITIVE),
        operation.as_strategy(generation_mode=schemathesis.GenerationMode.NEGATIVE),
    )

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(case=cases)
    def ask(case: Any) -> None:
        reply = case.call(base_url=client.address)
        assert reply.status_code < 500, (case.formatted_path, case.query, reply.text)
        case.validate_response(reply, checks=CHECKS)

    ask()


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(query=st.binary(max_size=200))
def test_no_query_of_bytes_makes_an_error_of_ours(client: Client, query: bytes) -> None:
    quoted = "".join(chr(byte) if 33 <= byte < 127 and byte != 35 else f"%{byte:02x}" for byte in query)
    assert client.ask(f"{PREFIX}/load?{quoted}").status < 500
