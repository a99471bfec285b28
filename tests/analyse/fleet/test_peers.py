from doctord.analyse.fleet.peers import DEVICE_LATENCY, TIME_OF_A_TRANSACTION, Member, outliers


def member(
    host: str, active: float = 1.0, transactions: float | None = 100.0, role: str = "oltp", **more: float
) -> Member:
    signs = {"active sessions": active, **({} if transactions is None else {"transactions": transactions}), **more}
    return Member(host, role, signs)


PEERS = [member(f"db{number}", 1.0 + number / 100) for number in range(12)]


def test_who_takes_far_longer_for_the_same_work() -> None:
    found = outliers([*PEERS, member("slow", 4.0)])
    assert [(one.host, one.figure, one.peers, one.above) for one in found] == [("slow", TIME_OF_A_TRANSACTION, 12, 1.0)]
    assert found[0].value == 40.0
    assert 10 < found[0].median < 11


def test_more_work_is_no_illness() -> None:
    assert outliers([*PEERS, member("large", 10.0, 1000.0)]) == []


def test_other_roles_and_few_hosts_are_no_peers() -> None:
    assert outliers([*PEERS, member("report", 4.0, role="reports")]) == []
    assert outliers([*PEERS[:7], member("slow", 4.0)]) == []


def test_less_than_twice_as_much_is_not_said_however_alike_the_others_are() -> None:
    alike = [member(f"db{number}") for number in range(20)]
    assert outliers([*alike, member("slower", 1.9)]) == []
    assert outliers([*alike, member("slow", 2.1)]) != []


def test_one_in_ten_is_another_kind_of_host() -> None:
    alike = [member(f"db{number}") for number in range(90)]
    assert outliers([*alike, *(member(f"large{number}", 4.0) for number in range(10))]) == []


def test_peers_that_are_far_apart_make_nobody_unlike() -> None:
    apart = [member(f"db{number}", float(number)) for number in range(1, 13)]
    assert outliers([*apart, member("slow", 14.0)]) == []


def test_the_slowest_device_counts() -> None:
    sound = [member(f"db{number}", **{"sda latency": 1.0 + number / 100, "sdb latency": 0.5}) for number in range(12)]
    found = outliers([*sound, member("disk", **{"sda latency": 1.0, "sdb latency": 30.0})])
    assert [(one.host, one.figure, one.value) for one in found] == [("disk", DEVICE_LATENCY, 30.0)]


def test_who_counts_no_transactions_is_held_against_others_that_count_none() -> None:
    hosts = [member(f"web{number}", transactions=None, **{"CPU used": 10.0}) for number in range(12)]
    busy = member("busy", transactions=None, **{"CPU used": 60.0})
    assert [one.host for one in outliers([*PEERS, *hosts, busy])] == ["busy"]
