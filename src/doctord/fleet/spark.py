"""Spark 4 or Sail as the engine of a job over many hosts, by Spark Connect alone: `mapInArrow` over the tasks.

Who carries a task out imports this program, so it has to be installed there in the same version.
"""

import os
import pickle
import socket
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import urlsplit

import pyarrow as pa

from doctord.app.fleet.engine import Done, Failed, Task
from doctord.errors import UserError

SAIL: Final = "sail"
_SCHEMA: Final = "number int, content binary"
# What somebody's cluster is asked to have at work at once; it has its own mind on that.
_PARTS: Final = 64
_PORT, _PATIENCE_S = 15002, 10.0


class Spark:
    """A cluster that answers at `sc://HOST:PORT`, or Sail in this process (`sail`)."""

    def __init__(self, address: str) -> None:
        """Nothing is asked of it yet.

        Raises:
            UserError: the libraries for it are not there.
        """
        self._address = address
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of PySpark on the versions of its own libraries
            try:
                import pyspark.sql.connect.session  # noqa: F401, PLC0415 - see below

                if address == SAIL:
                    import pysail  # noqa: F401, PLC0415 - who uses local processes has none of them
            except ImportError as error:
                raise UserError(f"{address} needs {error.name}", "pip install 'doctord[fleet]'") from error

    def each(self, do: Callable[[Task], Done], tasks: Sequence[Task]) -> Iterator[tuple[Task, Done | Failed]]:
        """See `Engine`. What of a task goes wrong is its own; where the engine fails, all of it does.

        Raises:
            UserError: the engine cannot be reached, or gives up.
        """
        rows = [(number, bytearray(pickle.dumps((do, task)))) for number, task in enumerate(tasks)]
        with self._session() as spark:
            frame = spark.createDataFrame(rows, _SCHEMA).repartition(min(len(rows), _PARTS), "number")
            for row in frame.mapInArrow(_carried_out, _SCHEMA).toLocalIterator():
                yield tasks[row["number"]], pickle.loads(row["content"])  # noqa: S301 - of our own function

    @contextmanager
    def _session(self) -> Iterator[Any]:
        from pyspark.errors import PySparkException  # noqa: PLC0415 - as above
        from pyspark.sql.connect.session import SparkSession  # noqa: PLC0415 - as above

        _check_answers(self._address)
        with _serving(self._address) as address, warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            try:
                spark = SparkSession.builder.remote(address).create()
                try:
                    yield spark
                finally:
                    spark.stop()
            except PySparkException as error:
                told = (str(error).splitlines() or [type(error).__name__])[0]
                hint = "its log tells more; is this program installed there, in this version?"
                raise UserError(f"{self._address}: {told}", hint) from error


def _check_answers(address: str) -> None:
    """That somebody listens there: PySpark would try again for ten minutes.

    Raises:
        UserError: nobody does.
    """
    if address == SAIL:
        return
    asked = urlsplit(address)
    try:
        socket.create_connection((asked.hostname or "", asked.port or _PORT), _PATIENCE_S).close()
    except (OSError, ValueError) as error:
        where = f"{asked.scheme}://{asked.hostname}"
        raise UserError(f"{where}: {error}", "where does Spark Connect listen? sc://HOST:15002") from error


@contextmanager
def _serving(address: str) -> Iterator[str]:
    """The address to ask; of Sail after it was started, until it is done."""
    if address != SAIL:
        yield address
        return
    os.environ.setdefault("RUST_LOG", "error")
    from pysail.spark import SparkConnectServer  # noqa: PLC0415 - as above

    server = SparkConnectServer(ip="127.0.0.1", port=0)
    server.start(background=True)
    try:
        yield f"sc://127.0.0.1:{server.listening_address[1]}"
    finally:
        server.stop()


def _carried_out(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What comes of tasks, wherever this runs: the number of each, and the result or why it failed."""
    for batch in batches:
        done = [pickle.dumps(_one(content)) for content in batch.column("content").to_pylist()]
        yield pa.record_batch({"number": batch.column("number"), "content": pa.array(done, pa.binary())})


def _one(content: bytes) -> object:
    try:
        do, task = pickle.loads(content)  # noqa: S301 - of our own function
        return do(task)
    except Exception as error:  # noqa: BLE001 - else the engine gives up on all hosts for a fault of one
        return Failed.of(error)
