"""Collations whose version is not the one that was recorded, as rows of `setting` and `statistic` hold them.

A row of `setting` for each (component `pg_collation`): its name is the database with the collation, its value both
versions. Figures of `statistic` have the same name as their entity.
"""

from typing import Final, NamedTuple

COMPONENT: Final = "pg_collation"
DEFAULT: Final = "default"
_NOW: Final = ", now "


class Versions(NamedTuple):
    """The version that was recorded when a database or collation was made, and the one that the system has now."""

    recorded: str
    actual: str

    @property
    def text(self) -> str:
        """Both, as a setting's value holds them.

        >>> Versions("2.31", "2.36").text
        '2.31, now 2.36'
        """
        return f"{self.recorded}{_NOW}{self.actual}"


def name_of(database: str, collation: str = DEFAULT) -> str:
    """What a collation of a database is called.

    >>> name_of("shop"), name_of("shop", "public.german")
    ('shop default', 'shop public.german')
    """
    return f"{database} {collation}"


def versions_of(value: str) -> Versions:
    """What a setting's value holds.

    >>> versions_of("2.31, now 2.36")
    Versions(recorded='2.31', actual='2.36')
    """
    recorded, _, actual = value.partition(_NOW)
    return Versions(recorded, actual)
