"""Plans as EXPLAIN gives them in JSON."""

from doctord.collect.postgres.statistics.plans.nodes import nodes

DOCUMENT = [
    {
        "Plan": {
            "Node Type": "Sort", "Parallel Aware": False, "Total Cost": 9.5, "Plan Rows": 3, "Plan Width": 8,
            "Sort Key": ["(count(*)) DESC", "o.state"],
            "Plans": [
                {"Node Type": "Aggregate", "Strategy": "Hashed", "Partial Mode": "Finalize", "Group Key": ["o.state"],
                 "Parent Relationship": "Outer",
                 "Plans": [{"Node Type": "Seq Scan", "Parallel Aware": True, "Relation Name": "orders",
                            "Schema": "sales", "Filter": "(o.state <> 'it''s 5'::text)",
                            "Parent Relationship": "Outer"}]},
                {"Node Type": "Index Only Scan", "Index Name": "k", "Relation Name": "list", "Schema": "sales",
                 "Index Cond": "(list.id = 42)", "Parent Relationship": "SubPlan", "Subplan Name": "SubPlan 1"},
            ],
        }
    }
]  # fmt: skip


def test_each_node_stands_before_those_below_it() -> None:
    told = nodes(DOCUMENT)
    assert [(one["step"], one["parent"], one["kind"], one["relationship"]) for one in told] == [
        (0, None, "Sort", None),
        (1, 0, "Finalize HashAggregate", "Outer"),
        (2, 1, "Parallel Seq Scan", "Outer"),
        (3, 0, "Index Only Scan", "SubPlan 1"),
    ]
    assert (told[0]["rows"], told[0]["width_bytes"], told[0]["cost"]) == (3.0, 8.0, 9.5)
    assert (told[2]["rows"], told[2]["relation"], told[3]["index"]) == (None, "sales.orders", "k")


def test_constants_are_taken_out() -> None:
    told = nodes(DOCUMENT)
    assert told[2]["filter"] == "(o.state <> ?::text)"
    assert told[3]["condition"] == "(list.id = ?)"
    assert told[0]["detail"] == "Sort Key: (count(*)) DESC, o.state"


def test_a_plan_of_thousands_of_nodes_is_cut_off() -> None:
    leaves = [{"Node Type": "Seq Scan", "Relation Name": f"part_{number}"} for number in range(5000)]
    assert len(nodes([{"Plan": {"Node Type": "Append", "Plans": leaves}}])) == 200
