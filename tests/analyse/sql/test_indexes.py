"""Which indexes could serve a condition."""

import pytest

from doctord.analyse.sql.conditions import condition
from doctord.analyse.sql.indexes import Index, Service, served

LOWER = ("(expression lower: title)",)


@pytest.mark.parametrize(
    ("where", "method", "columns", "service"),
    [
        ("title = $1", "btree", ("title",), "some"),
        ("title = $1", "btree", ("id", "title"), "none"),
        ("lower(title) = $1", "btree", LOWER, "some"),
        ("lower(title) IN ($1,$2)", "btree", LOWER, "some"),
        ("upper(title) = $1", "btree", LOWER, "unknown"),
        ("title = $1", "btree", LOWER, "none"),
        ("lower(author) = $1", "btree", LOWER, "none"),
        ("lower(title) = $1", "btree", ("title",), "none"),
        ("left(title, $1) = $2", "btree", ("(expression left: title)",), "unknown"),
        ("lower(title) = $1", "btree", ("(expression)",), "unknown"),
        ("lower(title) = $1", "btree", ("(expression lower btrim: title)",), "unknown"),
        ("words @@ $1::tsquery", "gin", ("words",), "some"),
        ("words @@ $1", "gin", ("id", "words"), "some"),
        ("words @@ $1", "btree", ("id",), "none"),
        ("tags @> $1", "gin", ("tags",), "some"),
        ("title LIKE $1", "btree", ("title",), "unknown"),
        ("title LIKE $1", "gin", ("title",), "some"),
    ],
)
def test_by_method_and_expression(where: str, method: str, columns: tuple[str, ...], service: Service) -> None:
    index = Index("one", method, columns, is_partial=False, is_valid=True)
    assert served([index], condition(f"SELECT id FROM notes WHERE {where}", "notes")).service == service
