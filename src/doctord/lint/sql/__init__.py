"""Rules on the hints of SQL statements: of Oracle, pg_hint_plan and MySQL."""
