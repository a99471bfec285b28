"""Where the recordings of many hosts are kept: a folder, or an object store, with objects that nobody changes."""
