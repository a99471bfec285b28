"""What a run takes of the host: a folder, processes, a control group, a device or a network of its own."""
