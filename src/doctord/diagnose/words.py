"""Figures in words: how findings write shares, bytes and times."""


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
