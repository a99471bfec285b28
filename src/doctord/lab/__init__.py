"""Lab: faults to inject into a private server, for tests and for learning."""
