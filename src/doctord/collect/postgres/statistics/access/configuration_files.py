"""Lines of the configuration's files that the server cannot take: it runs by what it took before, until it restarts."""

from pathlib import PurePath
from typing import Any, Final

from doctord._native import Batch
from doctord.collect.core.rates import Cadence
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.figures import Figures
from doctord.regex import regex

# The views read the files anew. Superusers alone may look, and whom they let.
_GRANTED: Final = """\
SELECT /* doctord */ bool_and(has_table_privilege(view, 'SELECT') AND has_function_privilege(oid, 'EXECUTE')) AS granted
FROM (VALUES ('pg_file_settings', 'pg_show_all_file_settings'), ('pg_hba_file_rules', 'pg_hba_file_rules'),
             ('pg_ident_file_mappings', 'pg_ident_file_mappings')) AS v (view, function)
     JOIN pg_proc ON proname = function AND pronamespace = 'pg_catalog'::regnamespace
"""
# A setting that is only in force after a restart is told as one that "could not be applied".
_SETTINGS: Final = """\
SELECT /* doctord */ f.sourcefile AS file, f.sourceline AS line, f.name AS about, error
FROM pg_file_settings AS f LEFT JOIN pg_settings AS s ON s.name = f.name
WHERE error IS NOT NULL AND NOT coalesce(pending_restart, false)
ORDER BY seqno LIMIT 20
"""
_RULES: Final = """\
SELECT /* doctord */ 'pg_hba.conf' AS file, line_number AS line, auth_method AS about, error
FROM pg_hba_file_rules WHERE error IS NOT NULL ORDER BY line_number LIMIT 20
"""
_IDENTITIES: Final = """\
SELECT /* doctord */ 'pg_ident.conf' AS file, line_number AS line, map_name AS about, error
FROM pg_ident_file_mappings WHERE error IS NOT NULL ORDER BY line_number LIMIT 20
"""
_VIEWS: Final = {
    "pg_file_settings.errors": _SETTINGS,
    "pg_hba_file_rules.errors": _RULES,
    "pg_ident_file_mappings.errors": _IDENTITIES,
}
_SINCE: Final = {"pg_ident_file_mappings.errors": 150000}
_QUOTED: Final = regex(r'"[^"]*"')
_HINT: Final = (
    "GRANT SELECT ON pg_file_settings, pg_hba_file_rules, pg_ident_file_mappings, and EXECUTE ON FUNCTION"
    " pg_show_all_file_settings(), pg_hba_file_rules(), pg_ident_file_mappings(), to the role that doctord connects as"
)


class ConfigurationFiles:
    """Fills `statistic` with `pg_file_settings.errors` and its like of pg_hba.conf and pg_ident.conf.

    Without an entity how many lines are wrong, 0 too; with it 1 for each: `file line 12: name: what is wrong`, without
    the value that stands there.
    """

    name = "files of the configuration"

    def __init__(self) -> None:
        """Due every minute."""
        self.cadence = Cadence(60.0)

    def read(self, link: Link) -> list[Batch]:
        """What is wrong in the files as they are now, loaded or not."""
        if not link.query(_GRANTED)[0]["granted"]:
            link.notices.not_measured(link.db, self.name, "the role may not read what the views tell of them", _HINT)
            return []
        figures = Figures(link.db)
        for name, sql in _VIEWS.items():
            if link.version >= _SINCE.get(name, 0):
                wrong = link.query(sql)
                figures.gauge(name, len(wrong))
                for row in wrong:
                    figures.gauge(name, 1, entity=_said(row))
        return figures.batches()

    def close(self) -> None:
        """There is nothing of its own."""


def _said(row: dict[str, Any]) -> str:
    about = f"{row['about']}: " if row["about"] else ""
    # A list of RADIUS secrets that cannot be read stands in the message.
    error = _QUOTED.sub('"?"', row["error"]) if "secret" in row["error"].lower() else row["error"]
    return f"{PurePath(row['file']).name} line {row['line']}: {about}{error}"
