"""Of databases of any vendor, and of PostgreSQL and MySQL."""
