"""Doctor D: a doctor for database servers."""
