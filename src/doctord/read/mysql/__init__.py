"""What MariaDB and MySQL are configured with, and what they count: option files, SHOW VARIABLES, SHOW STATUS."""

from doctord.read.format import Format
from doctord.read.mysql import option_file, show_output

# Those that are surer of themselves come first.
FORMATS: tuple[Format, ...] = (show_output, option_file)
