"""Rules on what PostgreSQL has set for a role or a database alone (ALTER ROLE ... SET, ALTER DATABASE ... SET)."""
