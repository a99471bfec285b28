"""AWR reports and Statspack: what HTML and text have in common, and where they differ."""
