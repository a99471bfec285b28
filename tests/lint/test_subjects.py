from doctord.dataset.dataset import Dataset
from doctord.lint.subjects import subjects

COMMON = {"component": "oracle", "name": "processes", "value": "300"}


def rows(*held: dict[str, object]) -> list[dict[str, object]]:
    return [COMMON | row for row in held]


def test_a_file_belongs_to_the_only_server_of_its_name() -> None:
    dataset = Dataset.from_rows(setting=rows({"db": "oracle:X", "host": "a"}, {"db": "oracle:x", "source": "file"}))
    (found,) = subjects(dataset)
    assert (found.db, found.host, len(found.rows)) == ("oracle:X", "a", 2)


def test_a_file_that_does_not_name_its_server_belongs_to_the_only_one() -> None:
    held = rows({"component": "postgresql", "db": "postgresql:5432", "host": "a"}, {"component": "postgresql"})
    held[1]["db"] = "postgresql"
    assert [one.name for one in subjects(Dataset.from_rows(setting=held))] == ["postgresql:5432"]


def test_of_two_servers_nobody_is_guessed() -> None:
    held = rows({"db": "oracle:X", "host": "a"}, {"db": "oracle:X", "host": "b"}, {"db": "oracle:X", "source": "file"})
    assert len(subjects(Dataset.from_rows(setting=held))) == 3


def test_each_has_the_memory_of_its_own_host() -> None:
    held = rows({"db": "oracle:X", "host": "a"}, {"db": "oracle:Y", "host": "b"})
    memory = [{"host": "a", "total_bytes": 1}, {"host": "b", "total_bytes": 2}]
    found = {one.name: one for one in subjects(Dataset.from_rows(setting=held, memory=memory))}
    assert found["oracle:X"].machine.memory_bytes == 1
    assert found["oracle:Y"].machine.memory_bytes == 2
    assert {name for name, one in found.items() if one.component == "kernel"} == {"a", "b"}
    assert [one.component for one in found["oracle:X"].others] == ["oracle", "kernel"]


def test_rows_of_no_host_count_for_each_and_are_kept_once() -> None:
    held = rows({"db": "oracle:X", "host": "a"}, {"db": "oracle:Y", "host": "b"})
    memory = [{"host": "a", "total_bytes": 1}, {"host": "b", "total_bytes": 2}, {"total_bytes": 3}]
    statistic = [{"db": "oracle:X", "name": "n", "value": 1.0}]
    one, other, *_ = subjects(Dataset.from_rows(setting=held, memory=memory, statistic=statistic))
    datasets = [subject.machine.case.dataset for subject in (one, other) if subject.host]
    assert [dataset.frame("memory")["total_bytes"].to_list() for dataset in datasets] == [[3, 1], [3, 2]]
    kernel = [
        one.machine.case.dataset for one in subjects(Dataset.from_rows(memory=memory, statistic=statistic)) if one.host
    ]
    assert len({id(dataset.frame("statistic")) for dataset in kernel}) == 1
