//! Autovacuum and autoanalyze (log_autovacuum_min_duration), by table.

use super::known;
use crate::server_log::entry::Entry;
use crate::server_log::figures::{self as f, Figure};
use crate::server_log::lines::Part;
use crate::server_log::text::{after, between, digits, millionths, number_before, thousandths};

const MIB: i64 = 1024 * 1024;

/// Whether it is a message of an autovacuum worker about a table.
pub fn take(entry: &Entry, part: &mut Part) -> bool {
    let message = entry.message;
    if let Some(table) = known::skipped(message) {
        // Said of a worker's own vacuum: a person's VACUUM (SKIP_LOCKED) is warned. It names no schema.
        part.tally.add(entry.moment, f::AUTOVACUUM_SKIPPED, table, 1);
        return true;
    }
    let Some(rest) = message.strip_prefix(b"automatic ") else {
        return false;
    };
    let Some(table) = between(rest, b" of table \"", b"\"") else {
        return false;
    };
    if rest.starts_with(b"analyze") {
        part.tally.add(entry.moment, f::ANALYZES, table, 1);
        times(entry, table, f::ANALYZE_TIME, f::ANALYZE_CPU, part);
    } else {
        part.tally.add(entry.moment, f::VACUUMS, table, 1);
        if rest.starts_with(b"vacuum to prevent") || rest.starts_with(b"aggressive vacuum to prevent") {
            part.tally.add(entry.moment, f::WRAPAROUND, table, 1);
        }
        times(entry, table, f::VACUUM_TIME, f::VACUUM_CPU, part);
        pages_and_rows(entry, table, part);
    }
    buffers_and_wal(entry, table, part);
    true
}

/// `canceling autovacuum task`: a worker gave way to who wants a lock. The context names the table, where it is logged
/// (log_error_verbosity); an analyze that was cancelled left no dead row.
pub fn cancelled(entry: &Entry, part: &mut Part) {
    let table = known::vacuumed(entry.context);
    if table.is_some() || entry.context.is_empty() {
        part.tally
            .add(entry.moment, f::AUTOVACUUM_CANCELLED, table.unwrap_or(b""), 1);
    }
}

fn times(entry: &Entry, table: &[u8], elapsed: Figure, cpu: Figure, part: &mut Part) {
    let usage = after(entry.message, b"system usage:").unwrap_or(b"");
    // `CPU: user: 0.01 s, system: 0.02 s, elapsed: 0.03 s`, before version 10 `CPU 0.02s/0.01u sec elapsed 0.03 sec`.
    let new = after(usage, b"user: ").zip(after(usage, b"system: "));
    let old = after(usage, b"CPU ").zip(after(usage, b"/"));
    let both = new
        .or(old)
        .and_then(|(one, other)| Some(millionths(one)? + millionths(other)?));
    let took = after(usage, b"elapsed: ")
        .or(after(usage, b"elapsed "))
        .and_then(millionths);
    for (figure, value) in [(elapsed, took), (cpu, both)] {
        if let Some(value) = value {
            part.tally.add(entry.moment, figure, table, value);
        }
    }
}

fn pages_and_rows(entry: &Entry, table: &[u8], part: &mut Part) {
    let message = entry.message;
    let pages = between(message, b"pages: ", b"\n").unwrap_or(b"");
    let rows = between(message, b"tuples: ", b"\n").unwrap_or(b"");
    for (figure, value) in [
        (f::INDEX_SCANS, after(message, b"index scans: ").and_then(digits)),
        (f::PAGES_REMOVED, number_before(pages, b" removed")),
        (f::PAGES_SCANNED, number_before(pages, b" scanned")),
        (f::ROWS_REMOVED, number_before(rows, b" removed")),
    ] {
        if let Some(value) = value {
            part.tally.add(entry.moment, figure, table, value);
        }
    }
    for (figure, value) in [
        (f::PAGES_REMAIN, number_before(pages, b" remain")),
        (f::ROWS_REMAIN, number_before(rows, b" remain")),
        (f::ROWS_DEAD, number_before(rows, b" are dead but not yet removable")),
    ] {
        if let Some(value) = value {
            part.tally.reading(entry.moment, figure, table, value);
        }
    }
}

fn buffers_and_wal(entry: &Entry, table: &[u8], part: &mut Part) {
    let message = entry.message;
    let buffers = after(message, b"buffer usage: ").unwrap_or(b"");
    let wal = after(message, b"WAL usage: ").unwrap_or(b"");
    for (figure, value) in [
        (f::BUFFERS_HIT, number_before(buffers, b" hits")),
        (
            f::BUFFERS_MISSED,
            number_before(buffers, b" misses").or(number_before(buffers, b" reads")),
        ),
        (f::BUFFERS_DIRTIED, number_before(buffers, b" dirtied")),
        (f::VACUUM_WAL_RECORDS, number_before(wal, b" records")),
        (f::VACUUM_WAL_IMAGES, number_before(wal, b" full page images")),
        (f::VACUUM_WAL_BYTES, number_before(wal, b" bytes")),
    ] {
        if let Some(value) = value {
            part.tally.add(entry.moment, figure, table, value);
        }
    }
    for (figure, mark) in [
        (f::VACUUM_READ_RATE, &b"avg read rate: "[..]),
        (f::VACUUM_WRITE_RATE, b"avg write rate: "),
    ] {
        if let Some(value) = after(message, mark).and_then(thousandths) {
            part.tally
                .reading(entry.moment, figure, table, value.saturating_mul(MIB) / 1000);
        }
    }
}
