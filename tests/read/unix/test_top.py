"""top of Linux and Solaris."""

from reading import figure, frame, picked, read_sample


def test_linux() -> None:
    reading = read_sample("top.linux.txt", zone="UTC")
    assert (reading.format, reading.skipped_lines) == ("top", 0)
    assert picked(reading, "cpu", "usr_pct", "sys_pct", "idle_pct") == [(50.0, 5.2, 43.9)]
    memory = picked(reading, "memory", "total_bytes", "available_bytes")
    assert memory == [(round(24105.6 * 1024**2), round(23322.5 * 1024**2))]
    assert picked(reading, "process", "cpu_pct", "rss_bytes", "user", "command", pid=25875) == [
        (27.0, 88364 * 1024, "root", "ora_lg00_+")
    ]
    assert figure(reading, "top.tasks", entity="running") == [2.0]


def test_solaris() -> None:
    reading = read_sample("top.solaris.txt", zone="UTC")
    assert reading.skipped_lines == 0
    assert picked(reading, "cpu", "interval_s", "usr_pct", "sys_pct", "idle_pct") == [(5.0, 40.0, 10.0, 50.0)]
    assert picked(reading, "memory", "total_bytes", "free_bytes", "swap_free_bytes") == [(64 << 30, 11 << 30, 30 << 30)]
    assert picked(reading, "process", "cpu_pct", "rss_bytes", "threads") == [(12.25, 23 << 30, 11)]
    assert figure(reading, "top.load_1m") == [3.6]


def test_arguments_are_left_out() -> None:
    assert set(frame(read_sample("oswatcher.top.dat"), "process")["command"]) >= {"vmstat", "top"}
