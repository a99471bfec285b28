from doctord.lint.statement import statements


def test_hints_have_their_place_and_arguments() -> None:
    text = "select 1;\n\nselect /*+ FULL(e) INDEX(@sel$1 d dept_ix)\n   ORDERED */ * from emp e, dept d;\n"
    (found,) = statements(text, "q.sql")
    assert found.line == 3
    assert [(hint.name, hint.arguments, hint.block, hint.line, hint.column) for hint in found.hints] == [
        ("FULL", ("e",), None, 3, 12),
        ("INDEX", ("d", "dept_ix"), "sel$1", 3, 20),
        ("ORDERED", (), None, 4, 4),
    ]
    assert found.comments[0].verb == "select"


def test_what_is_quoted_or_a_comment_is_no_hint() -> None:
    text = "select '/*+ FULL(a) */', q'[it's /*+ X */]', \"/*+ Y */\" /* plain */ from a -- FULL(b)\n"
    assert list(statements(text, "q.sql")) == []


def test_a_line_comment_of_oracle() -> None:
    (found,) = statements("select --+ FULL(e)\n* from emp e", "q.sql")
    assert [hint.text for hint in found.hints] == ["FULL(e)"]


def test_a_slash_on_its_own_line_ends_a_statement() -> None:
    assert [one.line for one in statements("select /*+ A */ 1 from x\n/\nselect /*+ B */ 4/2 from y\n/\n", "q")] == [
        1,
        3,
    ]


def test_a_comment_without_end() -> None:
    (found,) = statements("select /*+ FULL(e from emp e", "q.sql")
    assert not found.comments[0].is_closed
    assert not found.hints[0].is_closed
