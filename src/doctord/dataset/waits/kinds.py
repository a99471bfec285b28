"""Kinds of wait: the same words for the same thing, whatever the vendor calls it.

A class (`wait_class`) says which part of a server waits, in Oracle's terms; a kind says for what. A cause that is the
same everywhere asks for a kind. Which event is of which kind is data: the CSV file of each vendor beside this one.
"""

from typing import Final

KINDS: Final = {
    "cpu": "On a CPU, or wanting one: nothing is waited for.",
    "run queue": "Ready to run, and no CPU is free.",
    "idle": "Nothing to do, or asleep because it was asked to.",
    "row lock": "A row that another transaction changed or locked, until that transaction ends.",
    "table lock": "A lock on a table, its definition, or another object of the database.",
    "application lock": "A lock of the application's own making.",
    "other lock": "Any other lock that another session holds until it is done.",
    "notify": "Another transaction's commit that notifies listeners: such commits go one by one.",
    "internal lock": "A short lock on the server's own memory: a latch, mutex or lightweight lock.",
    "buffer lock": "A page in memory that another session reads or changes.",
    "single read": "A read of one block; of a few together where the server does not tell these apart.",
    "multi-block read": "A read of many blocks at once: scans, reads ahead.",
    "read by another": "A block that another session is reading just now.",
    "data write": "Writes and syncs of data files.",
    "free buffer": "Room in the buffer pool, until changed pages are written.",
    "temp": "Temporary files: sorts, hashes and tables that did not fit into memory.",
    "file operation": "Other files: opened, closed, resized, read or written.",
    "log sync": "The log, until a transaction is on stable storage: what a commit waits for.",
    "log write": "The log writer's own writes and syncs.",
    "log buffer": "Room in the log's buffer, or the lock to copy into it.",
    "log switch": "The next file of the log.",
    "archive": "Copies of the log that are kept.",
    "checkpoint": "Changed pages that must be written first.",
    "standby": "A replica's word that it has the transaction.",
    "network to client": "The client: to send, or to take what is sent.",
    "network to server": "Another server that was asked.",
    "cluster": "Blocks and locks of another instance of a cluster.",
    "parallel": "Another process that works on the same statement.",
    "parse": "The plan of a statement or the dictionary, which another session makes, reads or changes.",
    "sequence": "The next value of a sequence.",
    "space": "Room in a file, table or index that has to grow.",
    "undo": "The state of transactions: undo, snapshots, transaction ids.",
    "control file": "The file that says what belongs to the database.",
    "process start": "A process or session that begins.",
    "resource limit": "The server's own limits: a resource manager, a queue, a pause that a setting asks for.",
    "replication": "Replication's own reads, writes and messages.",
    "backup": "A backup.",
    "server log": "The server's own log, until it is written or its reader has taken it.",
    "other": "Something else that has a name.",
}

READS: Final = ("single read", "multi-block read", "read by another")
"""Kinds that end when a block of data is in memory."""
STORAGE: Final = (
    *(*READS, "data write", "free buffer", "temp", "file operation"),
    *("log sync", "log write", "log switch", "control file", "archive"),
)
"""Kinds that end when a device has done its work."""
