"""Rules on the settings of MariaDB and MySQL: a file for each part, a function for each rule."""
