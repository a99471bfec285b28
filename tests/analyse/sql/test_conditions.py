"""Which columns a statement compares, as its text tells."""

import pytest

from doctord.analyse.sql.conditions import condition, is_unjoined, tables_of


@pytest.mark.parametrize(
    ("text", "equal", "ranges"),
    [
        ("SELECT * FROM orders WHERE customer = $1", {"customer"}, set()),
        ("SELECT * FROM s.orders o WHERE o.customer IN ($1) AND o.created > $2", {"customer"}, {"created"}),
        ("UPDATE orders SET state = $1 WHERE id = $2", {"id"}, set()),
        ("DELETE FROM orders WHERE created < now() - $1", set(), {"created"}),
        ("SELECT * FROM items AS i JOIN orders AS o ON o.id = i.order_id WHERE i.kind = $1", {"id"}, set()),
        ("SELECT * FROM orders WHERE lower(name) = $1", set(), set()),
        ("SELECT * FROM orders WHERE id::text = $1", set(), set()),
        ("SELECT * FROM orders WHERE customer = $1 OR seller = $2", set(), set()),
        ("SELECT * FROM orders WHERE NOT customer = $1", set(), set()),
        ("SELECT CASE WHEN customer = $1 THEN $2 END FROM orders", set(), set()),
        ("SELECT * FROM orders WHERE first = last", set(), set()),
        ("SELECT * FROM orders WHERE customer = ?", {"customer"}, set()),
        ("SELECT * FROM orders WHERE created >= date $1 AND created < date $1 + interval $2", set(), {"created"}),
    ],
)  # fmt: skip
def test_what_is_compared(text: str, equal: set[str], ranges: set[str]) -> None:
    found = condition(text, "orders")
    assert found is not None
    assert (set(found.equal), set(found.ranges)) == (equal, ranges)


@pytest.mark.parametrize(
    ("text", "is_all"),
    [
        ("SELECT * FROM orders WHERE customer = $1", True),
        ("SELECT * FROM orders WHERE customer = $1 AND seller = $2", True),
        ("SELECT * FROM orders WHERE customer = $1 AND lower(note) = $2", False),
        ("SELECT * FROM orders WHERE customer = $1 LIMIT 1", False),
        ("SELECT * FROM orders JOIN items USING (id) WHERE customer = $1", False),
        ("SELECT * FROM orders", False),
    ],
)
def test_whether_these_are_all_conditions(text: str, *, is_all: bool) -> None:
    found = condition(text, "orders")
    assert found is not None
    assert found.is_all is is_all


def test_a_text_that_is_cut_tells_nothing() -> None:
    assert condition("SELECT * FROM orders WHERE (customer = $1 AND", "orders") is None
    assert condition("x" * 100_000, "orders") is None
    assert tables_of("SELECT FROM (") == ()


@pytest.mark.parametrize(
    ("text", "unjoined"),
    [
        ("SELECT count(*) FROM a, b WHERE a.x > $1 AND b.y > $2", True),
        ("SELECT count(*) FROM a CROSS JOIN b", True),
        ("SELECT count(*) FROM a, b, c WHERE a.x = b.x", True),
        ("SELECT count(*) FROM a JOIN b USING (x)", False),
        ("SELECT count(*) FROM a NATURAL JOIN b", False),
        ("SELECT count(*) FROM a, b WHERE a.x = b.x", False),
        ("SELECT count(*) FROM a, b WHERE x = y", False),
        ("SELECT count(*) FROM a, generate_series($1, $2)", False),
        ("SELECT count(*) FROM a", False),
    ],
)
def test_tables_without_a_condition_between_them(text: str, *, unjoined: bool) -> None:
    assert is_unjoined(text) is unjoined


def test_tables_of_a_statement() -> None:
    found = tables_of("WITH x AS (SELECT 1 FROM s.Orders) SELECT * FROM x JOIN items ON true")
    assert set(found) == {"orders", "items"}
