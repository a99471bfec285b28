//! A server's life: starts, crashes, stops, settings, archiving and replication, as events.

use super::happened;
use crate::server_log::entry::Entry;
use crate::server_log::figures as f;
use crate::server_log::lines::Part;
use crate::server_log::tally::Setting;
use crate::server_log::text::{after, between, digits};

const RESTART: [&[u8]; 18] = [
    b"starting PostgreSQL",
    b"database system was",
    b"database system is",
    b"redo starts at",
    b"redo done at",
    b"redo is not required",
    b"received fast shutdown",
    b"received smart shutdown",
    b"received immediate shutdown",
    b"aborting any active transactions",
    b"shutting down",
    b"terminating any other active server processes",
    b"all server processes terminated",
    b"abnormal database system shutdown",
    b"entering standby mode",
    b"consistent recovery state reached",
    b"selected new timeline",
    b"archive recovery complete",
];
const REPLICATION: [&[u8]; 14] = [
    b"started streaming WAL",
    b"replication terminated",
    b"terminating walsender",
    b"terminating walreceiver",
    b"received promote request",
    b"standby \"",
    b"invalidating obsolete replication slot",
    b"logical replication",
    b"logical decoding",
    b"starting logical decoding",
    b"recovery still waiting",
    b"recovery finished waiting",
    b"invalid record length",
    b"waiting for WAL",
];
const STANDBY_LOST: [&[u8]; 5] = [
    b"could not receive data from WAL stream",
    b"could not connect to the primary",
    b"requested WAL segment",
    b"canceling statement due to conflict with recovery",
    b"terminating connection due to conflict with recovery",
];
const REFUSED: [&[u8]; 3] = [
    b"sorry, too many clients already",
    b"remaining connection slots are reserved",
    b"too many connections for",
];
const ARCHIVE_FAILED: [&[u8]; 2] = [b"archive command failed", b"archive command was terminated"];
/// Of a connection, a worker, or another process of the server's own.
const FORK_FAILED: &[u8] = b"could not fork ";
/// Settings that may hold a password or a key.
const SECRET: [&[u8]; 5] = [b"conninfo", b"_command", b"passphrase", b"secret", b"token"];

fn begins(message: &[u8], known: &[&[u8]]) -> bool {
    known.iter().any(|begin| message.starts_with(begin))
}

/// Whether a session was refused because there were too many (SQLSTATE 53300, too_many_connections).
pub fn is_refusal(entry: &Entry) -> bool {
    entry.sqlstate == b"53300" || begins(entry.message, &REFUSED)
}

/// Whether a process died of what ends all others too: `checkpointer process (PID 9) was terminated by signal 9: Killed`,
/// `background worker "parallel worker" (PID 9) exited with exit code 2`; 1 is an error that ends a process alone.
fn is_crash(message: &[u8]) -> bool {
    let Some(rest) = after(message, b" (PID ") else {
        return false;
    };
    let exited = after(rest, b") exited with exit code ").and_then(digits);
    after(rest, b") was terminated by signal").is_some() || exited.is_some_and(|code| code > 1)
}

/// Whether it is a message about the server as a whole.
pub fn take(entry: &Entry, part: &mut Part) -> bool {
    let message = entry.message;
    if message.starts_with(b"server process (PID ") || is_crash(message) || begins(message, &RESTART) {
        happened_as_said(entry, "restart", part);
    } else if message.starts_with(b"received SIGHUP") {
        happened(entry.moment, "settings change", b"configuration files", message, part);
    } else if let Some(rest) = message.strip_prefix(b"parameter \"") {
        setting(entry, rest, part);
    } else if begins(message, &ARCHIVE_FAILED) {
        part.tally.add(entry.moment, f::ARCHIVE_FAILURES, b"", 1);
    } else if message.starts_with(FORK_FAILED) {
        // Why: what fork(2) said, after the last colon.
        let why = message.rsplit(|byte| *byte == b':').next().unwrap_or_default();
        part.tally.add(entry.moment, f::FORKS_FAILED, why.trim_ascii(), 1);
    } else if begins(message, &REPLICATION) {
        happened(entry.moment, "replication", b"", message, part);
    } else {
        return false;
    }
    true
}

/// Errors that concern more than one session.
pub fn fatal(entry: &Entry, part: &mut Part) {
    let message = entry.message;
    if is_refusal(entry) {
        // One event for a minute: the rate is a figure.
        let mut moment = entry.moment;
        moment.local_us -= moment.local_us.rem_euclid(crate::server_log::tally::MINUTE_US);
        happened(moment, "connection refused", b"", message, part);
    } else if after(message, b"No space left on device").is_some() {
        happened(entry.moment, "disk full", b"", message, part);
    } else if message == b"out of memory" || message == b"out of shared memory" {
        happened(entry.moment, "out of memory", entry.database, message, part);
    } else if begins(message, &STANDBY_LOST) {
        happened(entry.moment, "replication", b"", message, part);
    } else if begins(message, &RESTART) {
        happened_as_said(entry, "restart", part);
    }
}

/// Versions, signals and times are no constants: nobody typed them.
fn happened_as_said(entry: &Entry, kind: &'static str, part: &mut Part) {
    let text = String::from_utf8_lossy(entry.message).into_owned();
    part.tally.event(entry.moment, kind, "", text);
}

/// `work_mem" changed to "8MB"`, `... cannot be changed without restarting the server`, `... removed from ...`.
fn setting(entry: &Entry, text: &[u8], part: &mut Part) {
    let end = memchr::memchr(b'"', text).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let secret = SECRET.iter().any(|word| memchr::memmem::find(name, word).is_some()) || name.contains(&b'.');
    let shown = String::from_utf8_lossy(name).into_owned();
    let Some(value) = between(rest, b" changed to \"", b"\"") else {
        return happened(
            entry.moment,
            "settings change",
            name,
            rest.strip_prefix(b"\" ").unwrap_or(rest),
            part,
        );
    };
    let value = if secret {
        "(set, not shown)".into()
    } else {
        String::from_utf8_lossy(value).into_owned()
    };
    part.tally
        .event(entry.moment, "settings change", &shown, format!("changed to {value}"));
    part.tally.settings.push(Setting {
        moment: entry.moment,
        name: shown,
        value: Some(value),
    });
}
