"""Rules on the settings of PostgreSQL: a file for each part, a function for each rule."""
