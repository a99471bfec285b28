"""What failed, where the server does not tell all of it."""

from typing import Any, cast

from doctord.collect.core.link import Link
from doctord.collect.mysql.errors import Errors
from doctord.dataset.mysql_names import FAILED_STATEMENTS, RAISED
from doctord.errors import UserError


class Refusing:
    """A server of which the users' errors may not be read; each reading ten more statements have failed."""

    def __init__(self) -> None:
        self.failed, self.asked_for_users = 0, 0

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        if "by_user" in sql:
            self.asked_for_users += 1
            raise UserError("SELECT command denied (1142)", "GRANT SELECT ON performance_schema.*")
        if "by_error" in sql:
            return [(1146, "42S02", "ER_NO_SUCH_TABLE", self.failed)]
        self.failed += 10
        return [(self.failed,)]


def test_whose_they_are_may_be_refused_and_the_rest_is_told() -> None:
    server, errors = Refusing(), Errors()
    told = [errors.read(cast("Link", server), "mysql:3306", by_number=True) for _ in range(4)]
    assert told[0] == []
    assert all({row["name"] for row in rows} == {FAILED_STATEMENTS, RAISED} for rows in told[1:])
    assert str(errors.refused) == "SELECT command denied (1142)"
    assert server.asked_for_users == 1, "each refusal is a statement that fails there"
