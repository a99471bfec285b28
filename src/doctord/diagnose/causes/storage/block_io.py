"""A trace of single requests: whether they reach the device whole."""

from collections.abc import Iterator

from doctord.analyse.storage.block_sizes import block_sizes
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence
from doctord.diagnose.phrase import phrase

# Runs of four and more, of one size: that is no chance.
CONTINUED = 0.75
ONE_SIZE = 0.8
# Pieces of this size and more cost next to nothing: it is what devices take at most.
LARGE_BYTES = 256 * 1024
LEAST_REQUESTS = 16


@cause()
def requests_in_pieces(case: Case) -> Iterator[Claim]:
    """Large requests reach the device in small pieces.

    Looks like: runs of requests of one small size, each beginning where the one before ended.
    Hurts because: each piece has the cost of a request; a device that could move 1 MB at once is asked a hundred times.
    Speaks for it: share of requests that continue the one before, the size they have, pieces in a row.
    Speaks against it: requests of several sizes that do not follow one another.
    Remedy: Find what cuts them: the database's own size of a read (db_file_multiblock_read_count,
        effective_io_concurrency and read-ahead), the file system's limit and its extents (an extent boundary splits
        whatever its block size), a stripe unit of the volume, max_sectors_kb of the device, maxphys (Solaris).
    Verify: Trace again: fewer requests for the same bytes.
    Source: K. Manoharan, notes on Oracle on Solaris, 2008 (vxtrace: 16 and 64 KB arrive whole on file systems of 1 and
        of 8 KB blocks; what splits is an extent boundary); blkparse(1), action X.
    """
    for sizes in block_sizes(case.dataset):
        piece, count = sizes.sizes[0]
        if (
            sizes.requests < LEAST_REQUESTS
            or sizes.continued < CONTINUED
            or count < ONE_SIZE * sizes.requests
            or piece >= LARGE_BYTES
        ):
            continue
        where = f"device = '{sizes.device}' and operation = '{sizes.operation}'"
        yield Claim(
            phrase("{}s of {} arrive in pieces of {:bytes}", sizes.operation, sizes.device, piece),
            impact=NOT_MEASURED,
            confidence=0.6,
            for_=[
                Evidence("block_io", where, phrase("{:share} begin where the one before ended", sizes.continued),
                         phrase("{:share}", CONTINUED), phrase("{:.0f} in a row on average", sizes.mean_run),
                         "at_least"),
                Evidence("block_io", where, phrase("{:share} are of {:bytes}", count / sizes.requests, piece),
                         phrase("{:share}", ONE_SIZE),
                         "something cuts them to that size, or asks for no more at a time", "at_least"),
            ],
        )  # fmt: skip
