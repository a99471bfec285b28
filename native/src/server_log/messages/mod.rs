//! What the messages of a PostgreSQL server say, by their beginnings; in English, but for durations, statements and what
//! `known.rs` has.

mod checkpoints;
pub(super) mod errors;
mod failing;
mod known;
pub(super) mod languages;
mod life;
mod locks;
pub(super) mod refusals;
mod vacuum;

use crate::scrub::{Dialect, scrub};
use crate::server_log::entry::{Entry, Severity};
use crate::server_log::figures as f;
use crate::server_log::lines::Part;
use crate::server_log::moment::Moment;
use crate::server_log::tally::Use;
use crate::server_log::text::{after, digits, millionths, thousandths, until};

/// Counts one message.
pub fn take(entry: &Entry, part: &mut Part) {
    part.tally.message(entry.moment, entry.severity);
    match entry.severity {
        Severity::Info | Severity::Debug | Severity::Notice => {
            told(entry, part);
        }
        Severity::Log => {
            if !told(entry, part) {
                in_english(entry, |entry| {
                    // What is told by its words alone is so in another language too.
                    if !life::take(entry, part) && failing::is_failing(entry) {
                        errors::take(entry, part);
                    }
                });
            }
        }
        Severity::Warning => in_english(entry, |entry| errors::take(entry, part)),
        Severity::Error | Severity::Fatal | Severity::Panic => in_english(entry, |entry| {
            errors::take(entry, part);
            life::fatal(entry, part);
        }),
    }
}

fn in_english(entry: &Entry, take: impl FnOnce(&Entry)) {
    let message = known::english(entry.message);
    take(&Entry {
        message: &message,
        ..*entry
    });
}

/// Whether it is a message of which more is understood than its words.
fn told(entry: &Entry, part: &mut Part) -> bool {
    let message = entry.message;
    if let Some((elapsed, what)) = languages::duration(message) {
        duration(entry, elapsed, what, part);
        return true;
    }
    let moment = entry.moment;
    if let Some(text) = languages::statement(message) {
        part.tally.add(moment, f::STATEMENTS_LOGGED, entry.database, 1);
        used(
            entry,
            text,
            &Use {
                calls: 1,
                ..Use::default()
            },
            part,
        );
    } else if message.starts_with(b"connection received:") {
        part.tally.add(moment, f::CONNECTIONS, b"", 1);
    } else if message.starts_with(b"connection authorized:") {
        let database = after(message, b" database=").map_or(entry.database, |rest| until(rest, b' '));
        part.tally.add(moment, f::AUTHORIZED, database, 1);
    } else if let Some(rest) = message.strip_prefix(b"disconnection: session time: ") {
        disconnection(entry, rest, part);
    } else if let Some(rest) = message.strip_prefix(b"temporary file: ") {
        temporary_file(entry, rest, part);
    } else {
        return locks::take(entry, part)
            || checkpoints::take(entry, part)
            || vacuum::take(entry, part)
            || life::take(entry, part);
    }
    true
}

/// `0.841 ms  statement: SELECT 1`, `... parse <unnamed>: `, `... bind s1: `, `... execute s1: `, `... plan:`.
fn duration(entry: &Entry, elapsed: &[u8], what: &[u8], part: &mut Part) {
    let Some(elapsed_us) = thousandths(elapsed) else {
        return part.skip("a duration that is no number");
    };
    let moment = entry.moment;
    if what.starts_with(b"plan:") {
        return part.tally.add(moment, f::PLANS, entry.database, 1);
    }
    let is_execution = languages::statement(what).is_some();
    let preparing = if what.starts_with(b"parse ") {
        Some((f::PARSES, f::PARSE_TIME))
    } else if what.starts_with(b"bind ") {
        Some((f::BINDS, f::BIND_TIME))
    } else {
        None
    };
    if let Some((count, time)) = preparing {
        part.tally.add(moment, count, entry.database, 1);
        part.tally.add(moment, time, entry.database, elapsed_us);
    } else {
        part.tally.duration(moment, elapsed_us);
    }
    if is_execution || preparing.is_some() {
        let calls = i64::from(is_execution);
        let use_ = Use {
            calls,
            elapsed_us: Some(elapsed_us),
            ..Use::default()
        };
        used(entry, languages::text_of(what), &use_, part);
    } else {
        part.tally.add(moment, f::DURATIONS, entry.database, 1);
    }
}

fn used(entry: &Entry, text: &[u8], use_: &Use, part: &mut Part) {
    scrub(text, Dialect::Postgres, &mut part.scratch);
    if !part.scratch.is_empty() {
        part.tally.statement(entry.moment, entry.database, &part.scratch, use_);
    }
}

/// `0:00:00.006 user=postgres database=postgres host=[local]`.
fn disconnection(entry: &Entry, text: &[u8], part: &mut Part) {
    let database = after(text, b" database=").map_or(entry.database, |rest| until(rest, b' '));
    part.tally.add(entry.moment, f::DISCONNECTIONS, database, 1);
    if let Some(us) = session_us(until(text, b' ')) {
        part.tally.add(entry.moment, f::SESSION_TIME, database, us);
    }
}

fn session_us(text: &[u8]) -> Option<i64> {
    let mut parts = text.split(|byte| *byte == b':');
    let (hours, minutes, seconds) = (digits(parts.next()?)?, digits(parts.next()?)?, parts.next()?);
    let whole = hours.checked_mul(3600)?.checked_add(minutes.checked_mul(60)?)?;
    whole.checked_mul(1_000_000)?.checked_add(millionths(seconds)?)
}

/// `path "base/pgsql_tmp/pgsql_tmp1.0", size 1234`; the statement follows where log_min_error_statement lets it.
fn temporary_file(entry: &Entry, text: &[u8], part: &mut Part) {
    let Some(bytes) = after(text, b", size ").and_then(digits) else {
        return part.skip("a temporary file without its size");
    };
    part.tally.add(entry.moment, f::TEMP_FILES, entry.database, 1);
    part.tally.add(entry.moment, f::TEMP_BYTES, entry.database, bytes);
    used(
        entry,
        entry.statement,
        &Use {
            temp_bytes: Some(bytes),
            ..Use::default()
        },
        part,
    );
}

/// A statement on one line, cut where it is too long for an event.
pub fn brief(text: &[u8], part: &mut Part) -> String {
    const LONGEST: usize = 300;
    scrub(text, Dialect::Postgres, &mut part.scratch);
    let shown = &part.scratch[..part.scratch.len().min(LONGEST)];
    String::from_utf8_lossy(shown).into_owned()
}

/// An event whose text is a message without its constants.
pub fn happened(moment: Moment, kind: &'static str, subject: &[u8], text: &[u8], part: &mut Part) {
    let text = errors::without_constants(text);
    part.tally.event(moment, kind, &String::from_utf8_lossy(subject), text);
}
