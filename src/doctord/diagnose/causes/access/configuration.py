"""Files of the configuration that the server cannot take: what they say is not what it does."""

from collections.abc import Iterator
from typing import Final

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import NONE_YET, Claim, Evidence
from doctord.diagnose.phrase import phrase

# By the statistic that counts what is wrong in it: the file, and what follows from that.
FILES: Final = {
    "pg_file_settings.errors": (
        "the settings",
        "no reload changes anything while a name or line is wrong; with a wrong value, all but that setting; after a "
        "stop the server does not start",
    ),
    "pg_hba_file_rules.errors": (
        "pg_hba.conf",
        "the rules of before are in force, and no new one; after a restart the server lets nobody in",
    ),
    "pg_ident_file_mappings.errors": ("pg_ident.conf", "the maps of before are in force, and no new one"),
}
# A hostssl line where ssl is off: it is taken, and fits nobody (hba.c).
NO_MISTAKE: Final = "cannot match because"
MOST_TOLD = 4


@cause()
def configuration_not_loaded(case: Case) -> Iterator[Claim]:
    """A file of the configuration has a mistake, and the server does not do what its files say.

    Looks like: rows with an error in pg_file_settings, pg_hba_file_rules or pg_ident_file_mappings; "contains errors",
        "was not reloaded" in the log at the last reload, which may be long ago.
    Hurts because: what somebody changed is not in force, and nobody was told so but the log; at its next start the
        server does not come up, or lets nobody in.
    Speaks for it: the lines, and what is wrong with them.
    Speaks against it: a setting that is only waiting for a restart is no mistake, nor is a hostssl line where ssl is
        off: neither is told here.
    Remedy: Mend the lines, look at the views again, and then pg_reload_conf(); before any restart.
    Verify: select * from pg_file_settings where error is not null, and of the other two views, give no row.
    Source: PostgreSQL documentation, pg_file_settings, pg_hba_file_rules, pg_ident_file_mappings, "Setting Parameters".
    """
    for name, (file, then) in FILES.items():
        for db in case.dbs:
            told = (figure for figure in case.figures(name) if figure.db == db and figure.last > 0)
            wrong = [figure for figure in told if figure.entity and NO_MISTAKE not in figure.entity]
            if not wrong:
                continue
            yield Claim(
                phrase("{:count line/lines} of {} of {} cannot be taken: {}", len(wrong), file, db, wrong[0].entity),
                impact=NONE_YET,
                confidence=0.95,
                severity="warning",
                for_=[
                    Evidence("statistic", f"name = '{name}' and db = '{db}'", figure.entity or "", "", then)
                    for figure in wrong[:MOST_TOLD]
                ],
                database=db,
            )
