"""Figures in words: how findings write shares, bytes, times and processes."""

import polars as pl


def in_share(share: float) -> str:
    """A share (0 to 1) in percent, with a digit after the point below ten.

    >>> in_share(0.034)
    '3.4 %'
    """
    percent = share * 100
    return f"{percent:.0f} %" if percent >= 10 else f"{percent:.1f} %"


def in_bytes(count: float) -> str:
    """Bytes in the largest binary unit that leaves at least one.

    >>> in_bytes(1536 * 1024)
    '1.5 MiB'
    """
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(count) < 1024:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 100 else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def shortened(text: str, length: int = 120) -> str:
    """Text on one line, cut at a length.

    >>> shortened("select  *   from t", 12)
    'select * ...'
    """
    flat = " ".join(text.split())
    return flat if len(flat) <= length else f"{flat[: length - 3]}..."


def named(processes: pl.DataFrame) -> str:
    """The first of some processes by command, pid and user, and how many more of the same command there are.

    >>> named(pl.DataFrame({"command": ["gzip", "gzip"], "pid": [7, 8], "user": ["root", "root"]}))
    'gzip (pid 7 and 1 more, user root)'
    """
    command, pid, user = processes.select("command", "pid", "user").row(0)
    more = processes.filter(pl.col("command") == command).height - 1
    return f"{command} (pid {pid}{f' and {more} more' if more else ''}, user {user or 'unknown'})"
