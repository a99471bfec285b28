"""MariaDB and MySQL: option files, SHOW VARIABLES, SHOW STATUS, error logs and slow query logs."""
