"""Plans of the statements that take most of the time: which are asked for, how one is explained, its nodes."""
