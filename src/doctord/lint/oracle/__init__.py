"""Rules on the settings of Oracle: a file for each part, a function for each rule."""
