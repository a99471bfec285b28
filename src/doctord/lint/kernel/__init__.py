"""Rules on the settings of the Linux kernel: a file for each part, a function for each rule."""
