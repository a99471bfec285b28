"""Pages of a database that are not what was written."""

from collections.abc import Iterator

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import NONE_YET, Claim, Evidence
from doctord.diagnose.phrase import phrase

FAILED, LAST_S = "pg_stat_database.checksum_failures_count", "pg_stat_database.checksum_last_failure_s"


@cause()
def pages_damaged(case: Case) -> Iterator[Claim]:
    """Pages read from the disk are not what was written to it: their checksums fail.

    Looks like: checksum_failures of pg_stat_database above zero; statements that fail with "invalid page in block".
    Hurts because: rows of those pages cannot be read, or are wrong; a backup taken now carries the damage, and
        replaces one that has none.
    Speaks for it: how many, in which database, when the last was.
    Speaks against it: nothing: the page was read and did not fit its checksum. The count lasts until the statistics
        are reset, also after a repair.
    Remedy: Keep the oldest backups and stop their expiry. Look for errors of the disk and the memory (dmesg,
        smartctl, the array's log), then move to sound hardware: fail over to a standby, or restore, and read all of
        it (pg_amcheck, pg_dump to /dev/null, pg_checksums while the server is down). Do not set
        ignore_checksum_failure or zero_damaged_pages but to save what is left of a copy.
    Verify: pg_amcheck and a full dump end without an error; checksum_failures stays at zero after a reset.
    Source: PostgreSQL documentation, "Data Checksums", pg_stat_database, pg_amcheck.
    """
    for db in case.dbs:
        damaged = [one for one in case.figures(FAILED) if one.db == db and one.last]
        if not damaged:
            continue
        last_s = {one.entity: one.last for one in case.figures(LAST_S) if one.db == db}
        yield Claim(
            phrase("{:count page/pages} of {} failed their checksums", sum(one.last for one in damaged), db),
            impact=NONE_YET,
            confidence=0.95,
            severity="critical",
            for_=[
                Evidence(
                    "statistic",
                    f"name = '{FAILED}' and entity = '{one.entity}'",
                    phrase("{:,.0f} in {}", one.last, one.entity),
                    phrase("{:.0f}", 0.0),
                    phrase("the last {:duration} ago", last_s[one.entity]) if one.entity in last_s else "",
                    "at_least",
                )
                for one in damaged
            ],
            database=db,
        )
