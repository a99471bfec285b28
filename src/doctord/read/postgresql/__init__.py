"""Settings of PostgreSQL: its configuration files, and pg_settings as psql prints it."""

from doctord.read.format import Format
from doctord.read.postgresql import configuration, pg_settings

# Those that are surer of themselves come first.
FORMATS: tuple[Format, ...] = (pg_settings, configuration)
