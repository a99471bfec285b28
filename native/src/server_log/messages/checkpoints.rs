//! Checkpoints and restartpoints (log_checkpoints).

use super::happened;
use crate::server_log::entry::Entry;
use crate::server_log::figures as f;
use crate::server_log::lines::Part;
use crate::server_log::text::{after, digits, millionths, number_before};

const KIB: i64 = 1024;

/// Whether it is a message about checkpoints.
pub fn take(entry: &Entry, part: &mut Part) -> bool {
    let message = entry.message;
    if let Some(causes) = message.strip_prefix(b"checkpoint starting:") {
        started(entry, causes, part);
    } else if message.starts_with(b"checkpoint complete:") {
        part.tally.add(entry.moment, f::CHECKPOINTS_DONE, b"", 1);
        complete(entry, part);
    } else if message.starts_with(b"restartpoint complete:") {
        part.tally.add(entry.moment, f::RESTARTPOINTS, b"", 1);
        complete(entry, part);
    } else if message.starts_with(b"checkpoints are occurring too frequently") {
        part.tally.add(entry.moment, f::CHECKPOINTS_FREQUENT, b"", 1);
    } else if !message.starts_with(b"restartpoint starting:") && !message.starts_with(b"recovery restart point") {
        return false;
    }
    true
}

/// As pg_stat_bgwriter counts: those of the clock are timed, all others requested, but at start and stop.
fn started(entry: &Entry, causes: &[u8], part: &mut Part) {
    let has = |cause: &[u8]| causes.split(|byte| *byte == b' ').any(|word| word == cause);
    let figure = if has(b"shutdown") || has(b"end-of-recovery") {
        f::CHECKPOINTS_AT_EDGES
    } else if has(b"time") {
        f::CHECKPOINTS_TIMED
    } else {
        f::CHECKPOINTS_REQUESTED
    };
    part.tally.add(entry.moment, figure, b"", 1);
    happened(
        entry.moment,
        "checkpoint",
        b"start",
        [b"started:", causes].concat().as_slice(),
        part,
    );
}

/// `wrote 64 buffers (0.4%); 0 WAL file(s) added, 0 removed, 1 recycled; write=3.3 s, sync=0.1 s, total=3.4 s; ...`.
fn complete(entry: &Entry, part: &mut Part) {
    let message = entry.message;
    for (figure, value) in [
        (f::CHECKPOINT_BUFFERS, number_before(message, b" buffers")),
        (
            f::WAL_ADDED,
            number_before(message, b" WAL file(s) added").or(number_before(message, b" transaction log file(s) added")),
        ),
        (f::WAL_REMOVED, number_before(message, b" removed")),
        (f::WAL_RECYCLED, number_before(message, b" recycled")),
        (f::CHECKPOINT_WRITE, after(message, b"write=").and_then(millionths)),
        (f::CHECKPOINT_SYNC, after(message, b"sync=").and_then(millionths)),
        (f::CHECKPOINT_FILES, after(message, b"sync files=").and_then(digits)),
    ] {
        if let Some(value) = value {
            part.tally.add(entry.moment, figure, b"", value);
        }
    }
    for (figure, value) in [
        (f::CHECKPOINT_TOTAL, after(message, b"total=").and_then(millionths)),
        (
            f::CHECKPOINT_LONGEST_SYNC,
            after(message, b"longest=").and_then(millionths),
        ),
        (
            f::CHECKPOINT_DISTANCE,
            after(message, b"distance=")
                .and_then(digits)
                .map(|kib| kib.saturating_mul(KIB)),
        ),
        (
            f::CHECKPOINT_ESTIMATE,
            after(message, b"estimate=")
                .and_then(digits)
                .map(|kib| kib.saturating_mul(KIB)),
        ),
    ] {
        if let Some(value) = value {
            part.tally.reading(entry.moment, figure, b"", value);
        }
    }
    let text = String::from_utf8_lossy(message).into_owned();
    part.tally.event(entry.moment, "checkpoint", "complete", text);
}
