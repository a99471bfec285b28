"""Live latency distributions: of the host, of PostgreSQL, of Oracle, of MariaDB and MySQL."""
