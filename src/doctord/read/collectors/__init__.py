"""Recordings of collectors: OSWatcher, nmon, collectl, dstat, atop, PCP, z/VM Performance Toolkit."""
