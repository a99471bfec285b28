"""What lint found: terminal, JSON, SARIF, JUnit."""
