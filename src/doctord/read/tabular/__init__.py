"""Tables of figures as people and programs keep them: CSV, Parquet, Arrow, and texts of two columns."""
