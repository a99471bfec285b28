from datetime import UTC, datetime, timedelta

from doctord.app.alerts.state import GONE, SEEN, Alert, Alerts, Condition, Silence, grouped

BEGIN = datetime(2026, 11, 26, 3, 0, tzinfo=UTC)
LOCKS = Condition("shop", "db1", "row_locks", None, "critical", "62 % of database time waits for row locks")
FULL = Condition("shop", "db1", "filesystem_full", "/var", "warning", "/var is 97 % full")


def looks(alerts: Alerts, *seen: list[Condition]) -> list[list[tuple[str, str]]]:
    """What is told after each look, a minute apart."""
    told = [alerts.look(BEGIN + timedelta(minutes=number), conditions) for number, conditions in enumerate(seen)]
    return [[(one.condition.name, one.status) for one in after] for after in told]


def test_what_was_seen_once_is_no_alert() -> None:
    assert looks(Alerts(), [LOCKS], [], [LOCKS], [], [LOCKS]) == [[]] * 5


def test_what_stays_fires_once_and_is_over_once_when_it_stays_away() -> None:
    told = looks(Alerts(), *[[LOCKS]] * (SEEN + 3), *[[]] * (GONE + 2))
    assert told[SEEN - 1] == [("row_locks", "firing")]
    assert told[SEEN + 3 + GONE - 1] == [("row_locks", "resolved")]
    assert sum(map(len, told)) == 2


def test_what_comes_and_goes_while_it_fires_is_not_told_again() -> None:
    told = looks(Alerts(), [LOCKS], [LOCKS], [], [LOCKS], [], [], [LOCKS])
    assert [one for after in told for one in after] == [("row_locks", "firing")]


def test_an_alert_says_since_when_and_what_was_said_last() -> None:
    alerts, worse = Alerts(), LOCKS._replace(what="80 % of database time waits for row locks")
    alerts.look(BEGIN, [LOCKS])
    assert alerts.look(BEGIN + timedelta(minutes=1), [worse]) == [
        Alert(worse, BEGIN, "firing", BEGIN + timedelta(minutes=1))
    ]
    later = BEGIN + timedelta(minutes=2)
    assert alerts.firing(later) == [Alert(worse, BEGIN, "firing", later)]


def test_a_silence_holds_for_its_cause_and_host_until_its_end() -> None:
    until = BEGIN + timedelta(minutes=3, seconds=30)
    alerts = Alerts([Silence("row_locks", "db1", "the migration", until)])
    elsewhere = LOCKS._replace(host="db2")
    told = looks(alerts, *[[LOCKS, FULL, elsewhere]] * 6)
    assert set(told[1]) == {("filesystem_full", "firing"), ("row_locks", "firing")}
    assert told[2:4] == [[], []]
    assert told[4] == [("row_locks", "firing")]


def test_a_look_that_could_not_judge_is_none() -> None:
    alerts = Alerts()
    for minute in range(SEEN - 1):
        alerts.look(BEGIN + timedelta(minutes=minute), [LOCKS])
    alerts.look(BEGIN + timedelta(minutes=SEEN), [], lambda _: False)
    assert [one.status for one in alerts.look(BEGIN + timedelta(minutes=SEEN + 1), [LOCKS])] == ["firing"]
    for minute in range(GONE + 2):
        assert (
            alerts.look(BEGIN + timedelta(minutes=10 + minute), [FULL], lambda one: one.name != "row_locks")[1:] == []
        )
    assert "row_locks" in {one.condition.name for one in alerts.firing(BEGIN + timedelta(hours=1))}


def test_one_cause_on_many_databases_is_one_message() -> None:
    many = [LOCKS._replace(host=f"db{number}") for number in range(50)]
    alerts = Alerts()
    alerts.look(BEGIN, [*many, FULL])
    told = grouped(alerts.look(BEGIN + timedelta(minutes=1), [*many, FULL]))
    assert [(name, len(group)) for name, group in told] == [("row_locks", 50), ("filesystem_full", 1)]
