"""Stacks and how often they were seen."""

from reading import picked, read_sample


def counted(name: str) -> dict[str, float]:
    reading = read_sample(name)
    assert (reading.format, reading.skipped_lines) == ("counts of stacks (bpftrace, DTrace, folded)", 0)
    return dict(picked(reading, "statistic", "entity", "value", name="stack.samples"))


def test_bpftrace_with_a_name_beside_the_stack() -> None:
    assert counted("stack_counts.bpftrace.txt") == {
        "postgres;do_syscall_64;__x64_sys_futex;do_futex;_raw_spin_lock": 12.0,
        "schedule;finish_task_switch": 340.0,
    }


def test_dtrace_with_the_count_below() -> None:
    assert counted("stack_counts.dtrace.txt") == {
        "genunix`read;genunix`fop_read;unix`mutex_enter": 17.0,
        "oracle`ksedmp;oracle`kghalf;libc.so.1`_read": 103.0,
    }


def test_folded_as_flame_graphs_take_them() -> None:
    assert counted("stack_counts.folded.txt")["mysqld;do_command;dispatch_command;MYSQLparse"] == 17.0
