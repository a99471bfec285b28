"""A set of breaks: a TOML file with a `[[break]]` for each, written from the server's documentation alone.

    [[break]]
    name = "sequence_behind_its_column"
    says = "A table was restored without its sequence: the next numbers are there already"
    source = "9.17 Sequence Manipulation Functions"
    right = "names the sequence, or the duplicate keys and that the sequence is behind"
    half = "statements fail, with the server's message"
    prepare = '''                # by psql in the database shop, as the superuser; the role app owns nothing yet
    create table orders (id bigserial primary key, note text);
    grant all on all tables in schema public to app;
    '''
    sql = "select setval('orders_id_seq', 1)"   # the break itself, by psql

    [[break.service]]            # whom it hurts; several are possible
    name = "ordering"
    sql = "insert into orders (note) values ('{1..1000}')"

`{1..1000}` is a random whole number of that range, another one each time.
Roles that a break makes may log in over the socket without a password; over 127.0.0.1 app alone may.

With `engine = "mysql"` or `"mariadb"` it is a server of that kind: `prepare` and `sql` are sent as root over the
socket, as one text of several statements, app@localhost has all rights on shop.*, and `shell` knows $DATADIR, $SOCKET,
$PORT and $PID. MySQL's programs are in the folder `bin` of $DOCTORD_MYSQL.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

from doctord.errors import UserError
from doctord.lab.fault import Engine


class Service(NamedTuple):
    """Clients that ask the same again and again, at their own pace, and go on when they are refused.

    `sql` is sent as it is, as one message; `on_connect` once for each connection. `each_connects`: one connection for
    each request.
    """

    name: str
    sql: str
    role: str = "app"
    database: str = "shop"
    rate_per_s: float = 40.0
    clients: int = 4
    on_connect: str = ""
    each_connects: bool = False


class Session(NamedTuple):
    """Somebody who sends some statements, each a message of its own, and stays connected."""

    program: str
    sql: tuple[str, ...]
    role: str = "app"
    database: str = "shop"


class Break(NamedTuple):
    """One break, and what an administrator would want to be told of it.

    `healthy`: nothing is wrong, and nothing above a note may be said. `settings` are the server's from the start. The
    break is `sql`, then `shell` (by bash as root, with $PGDATA, $PGHOST, $PGPORT; what it leaves running is killed in
    the end), then a restart, then the `sessions`; after `warm_up_s` the check-up looks.
    """

    name: str
    says: str
    source: str
    right: str
    half: str
    healthy: bool
    prepare: str
    services: tuple[Service, ...]
    sql: str
    shell: str
    restart: bool
    sessions: tuple[Session, ...]
    settings: Mapping[str, str]
    warm_up_s: float
    engine: Engine

    @classmethod
    def of(cls, told: dict[str, Any]) -> Self:
        """A break of its table in the file; a key that is not known is an error."""
        services = tuple(Service(**one) for one in told.pop("service", ()))
        sessions = tuple(Session(**one | {"sql": tuple(one["sql"])}) for one in told.pop("session", ()))
        by_default: dict[str, Any] = {
            "half": "", "healthy": False, "prepare": "", "sql": "", "shell": "", "restart": False, "settings": {},
            "warm_up_s": 5.0, "engine": "postgresql",
        }  # fmt: skip
        found = cls(**by_default | told, services=services, sessions=sessions)
        if found.restart and found.engine != "postgresql":
            raise TypeError("only a break of PostgreSQL can restart the server")
        return found


def read(path: Path) -> list[Break]:
    """The breaks of a file.

    Raises:
        UserError: one cannot be read; it says which.
    """
    found = []
    for number, told in enumerate(tomllib.loads(path.read_text()).get("break", ()), 1):
        name = told.get("name", f"number {number}")
        try:
            found.append(Break.of(told))
        except (TypeError, KeyError) as error:
            raise UserError(
                f"{path}: break {name}: {error}", "the keys stand in benchmarks/breaks/break_cases.py"
            ) from error
    return found
