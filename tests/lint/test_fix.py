import subprocess
from pathlib import Path

from doctord.lint import engine, fix
from doctord.lint.setting import Setting
from doctord.lint.violation import Change, Severity, Violation
from doctord.report.phrases import said
from settings_datasets import HOST, dataset

CONF = "# ours\nport = 5432\n  fsync = off   # fast\nmax_connections = 100\n"


def violations_on(name: str) -> tuple[Violation, ...]:
    row = {"host": HOST, "component": "postgresql", "name": "fsync", "value": "off", "source": "file"}
    held = dataset("postgresql", {}, setting=[row | {"source_file": name, "line": 3}])
    return engine.examine(held).violations


def test_the_line_is_changed_and_what_it_was_stays_as_a_comment() -> None:
    (edited,), new = fix.fixed(violations_on("postgresql.conf"), {"postgresql.conf": CONF}, said)
    assert new == []
    lines = edited.after.splitlines()
    assert lines[2].startswith("  # doctord: fsync = off: a crash")
    assert lines[2].endswith("it was: fsync = off   # fast")
    assert lines[3:] == ["  fsync = 'on'", "max_connections = 100"]


def test_the_patch_applies(tmp_path: Path) -> None:
    file = tmp_path / "postgresql.conf"
    file.write_text(CONF, encoding="utf-8")
    (edited,), _ = fix.fixed(violations_on(str(file)), {str(file): CONF}, said)
    subprocess.run(["patch", "-p0", "--silent", str(file)], input=edited.patch(), text=True, check=True, timeout=180)
    assert file.read_text(encoding="utf-8") == edited.after


def test_a_file_that_changed_since_is_left_alone() -> None:
    edited, new = fix.fixed(violations_on("postgresql.conf"), {"postgresql.conf": "port = 5432\n"}, said)
    assert edited == []
    assert [one.name for one in new] == ["doctord-postgresql.conf"]
    assert new[0].after.splitlines()[-1] == "fsync = 'on'"


def violation(change: Change, severity: Severity = Severity.WARNING, setting: Setting | None = None) -> Violation:
    held = (setting,) if setting else ()
    return Violation("x/y", "db", "title", severity, "cost", None, held, (), (), (change,), "fix", "verify", "source")


def test_drop_ins_are_written_as_each_component_reads_them() -> None:
    changes = [
        Change("mysql", "sync_binlog", "1", "now"),
        Change("kernel", "vm.swappiness", "1", "now"),
        Change("kernel", "block.sda.scheduler", "none", "now"),
        Change("oracle", "filesystemio_options", "'SETALL'", "restart"),
        Change("oracle", "optimizer_index_cost_adj", None, "now"),
    ]
    _, new = fix.fixed([violation(change) for change in changes], {}, said)
    lines = {one.name: one.after.splitlines() for one in new}
    assert lines["doctord-mysql.cnf"][1:] == ["[mysqld]", "# db: title", "sync_binlog = 1"]
    assert lines["60-doctord-sysctl.conf"][-1] == "vm.swappiness = 1"
    assert lines[fix.UDEV][-1] == 'ACTION=="add|change", KERNEL=="sda", ATTR{queue/scheduler}="none"'
    assert lines[fix.SQL][2] == "alter system set filesystemio_options='SETALL' scope=spfile sid='*';"
    assert lines[fix.SQL][4] == "alter system reset optimizer_index_cost_adj scope=spfile sid='*';"


def test_of_two_that_disagree_the_worse_one_is_followed() -> None:
    told = [
        violation(Change("kernel", "vm.swappiness", "10", "now"), Severity.NOTE),
        violation(Change("kernel", "vm.swappiness", "1", "now"), Severity.ERROR),
    ]
    _, (new,) = fix.fixed(told, {}, said)
    assert "vm.swappiness = 1\n" in new.after
    assert "vm.swappiness = 10" not in new.after


def test_a_keyword_of_multipath_keeps_its_place() -> None:
    text = "defaults {\n    rr_min_io 1000\n}\n"
    place = Setting("multipath", None, None, "defaults.rr_min_io", "1000", file="multipath.conf", line=2)
    told = violation(Change("multipath", "defaults.rr_min_io", "1", "reload"), setting=place)
    (edited,), _ = fix.fixed([told], {"multipath.conf": text}, said)
    assert edited.after.splitlines()[2] == "    rr_min_io 1"


def test_a_value_that_goes_on_in_the_next_line_is_left_to_a_person() -> None:
    place = Setting("oracle", None, None, "control_files", "a, b", file="init.ora", line=1)
    told = violation(Change("oracle", "control_files", "'/c'", "restart"), setting=place)
    edited, new = fix.fixed([told], {"init.ora": "*.control_files='/a',\n'/b'\n"}, said)
    assert edited == []
    assert [one.name for one in new] == [fix.SQL]
