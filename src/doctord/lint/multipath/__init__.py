"""Rules on the settings of device-mapper-multipath: a file for each part, a function for each rule."""
