"""The lab: a private PostgreSQL under a light load, and faults to inject into it, for tests and for learning."""
