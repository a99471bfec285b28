"""Formats that hold latencies: histograms, single waits, and means."""

from doctord.read.latency import (
    blktrace,
    bpftrace_json,
    call_sums,
    call_trace,
    fio_json,
    fio_log,
    fio_text,
    histogram_text,
    pairs_csv,
    parse_trace,
    pylatencymap,
    wait_trace,
)

FORMATS = (
    pylatencymap,
    bpftrace_json,
    wait_trace,
    parse_trace,
    blktrace,
    fio_json,
    fio_log,
    fio_text,
    call_trace,
    histogram_text,
    call_sums,
    pairs_csv,
)
