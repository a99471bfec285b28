"""PostgreSQL: configuration files, pg_settings, and server logs."""
