"""Settings that each component knows: a CSV file for each, with the columns that `doctord.dataset.catalogue` explains.

Of running servers (`make catalogues` renews them):
- `postgresql.csv`: pg_settings, by `tools/list_postgresql.py`; what versions before 13 had, and what replaced a
  setting: the release notes in the PostgreSQL documentation.
- `mariadb.csv`: information_schema.SYSTEM_VARIABLES and `--help --verbose` of MariaDB 10.11, by
  `tools/list_mariadb.py`; units, and other versions: MariaDB Knowledge Base, Server System Variables.

Of documentation, as no such server is at hand:
- `mysql.csv`: MySQL Server Version Reference, 5.7 to 9.
- `oracle.csv`: Oracle Database Reference, Initialization Parameters; what is gone: Oracle Database Upgrade Guide. It
  has the parameters that files and reports show most and is not whole: a name that it has not may be one.
- `multipath.csv`: multipath.conf(5) of multipath-tools.

A kernel has no list: each version and each module has its own names.
"""
