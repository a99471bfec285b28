"""The application: a file for each use case. It takes what was asked, typed, and gives results; it prints nothing.

The command line is one face of it. Heavy imports are local to who needs them, as `doctord.app.record` must stay small.
"""
