"""Rules on the settings of block devices and file systems: a file for each part, a function for each rule."""
