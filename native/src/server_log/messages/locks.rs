//! Waits for locks (log_lock_waits) and deadlocks: who waits for what, and who holds it.

use super::brief;
use crate::server_log::entry::Entry;
use crate::server_log::figures as f;
use crate::server_log::lines::Part;
use crate::server_log::text::{after, between, thousandths, until};

/// What is locked in the server's words, and the wait event of pg_stat_activity; longer words first.
const OBJECTS: [(&[u8], &str); 12] = [
    (b"extension of relation", "extend"),
    (b"pg_database.datfrozenxid", "frozenid"),
    (b"relation", "relation"),
    (b"tuple", "tuple"),
    (b"page", "page"),
    (b"remote transaction", "applytransaction"),
    (b"transaction", "transactionid"),
    (b"virtual transaction", "virtualxid"),
    (b"speculative token", "spectoken"),
    (b"object", "object"),
    (b"advisory lock", "advisory"),
    (b"user lock", "userlock"),
];

/// `process 12 still waiting for ShareLock on transaction 34 after 1000.123 ms`; whether it is such a message.
pub fn take(entry: &Entry, part: &mut Part) -> bool {
    let message = entry.message;
    let Some(rest) = message.strip_prefix(b"process ") else {
        return false;
    };
    let (pid, rest) = rest.split_at(until(rest, b' ').len());
    let Some((what, waited_us)) = lock_and_time(rest) else {
        return false;
    };
    let object = object_of(what);
    if rest.starts_with(b" still waiting for ") {
        part.tally.add(entry.moment, f::LOCK_WAITS, entry.database, 1);
        waits_for(entry, pid, what, waited_us, part);
    } else if rest.starts_with(b" acquired ") {
        part.tally.wait(entry.moment, object, waited_us);
    } else {
        // It was woken by deadlock detection; the error, if there was one, follows in a message of its own.
        return rest.starts_with(b" detected deadlock") || rest.starts_with(b" avoided deadlock");
    }
    true
}

fn lock_and_time(text: &[u8]) -> Option<(&[u8], i64)> {
    let what = between(text, b"Lock on ", b" after ")?;
    let waited_us = thousandths(after(text, b" after ")?)?;
    Some((what, waited_us))
}

fn object_of(what: &[u8]) -> &'static str {
    let found = OBJECTS.iter().find(|(words, _)| what.starts_with(words));
    found.map_or("other", |(_, event)| event)
}

/// Who waits, for what, held by whom (from the detail), and in which statement.
fn waits_for(entry: &Entry, pid: &[u8], what: &[u8], waited_us: i64, part: &mut Part) {
    let mode = between(entry.message, b"waiting for ", b" on ").unwrap_or(b"a lock");
    let holders = after(entry.detail, b"holding the lock: ").map(|rest| until(rest, b'.'));
    let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut text = format!(
        "waits for {} on {} after {} ms",
        shown(mode),
        shown(what),
        waited_us / 1000
    );
    if let Some(holders) = holders {
        text += &format!(", held by process {}", shown(holders));
    }
    if let Some(queue) = after(entry.detail, b"Wait queue: ").map(|rest| until(rest, b'.')) {
        let waiting = queue.split(|byte| *byte == b',').count();
        // One alone is who says it.
        if waiting > 1 {
            text += &format!(", {waiting} in the queue");
        }
    }
    let statement = brief(entry.statement, part);
    if !statement.is_empty() {
        text += &format!(": {statement}");
    }
    part.tally
        .event(entry.moment, "lock wait", &format!("process {}", shown(pid)), text);
}

/// The circle of waits, from the detail of a `deadlock detected`: first who waits for whom, then their statements.
pub fn deadlock(entry: &Entry, part: &mut Part) {
    part.tally.add(entry.moment, f::DEADLOCKS, entry.database, 1);
    let mut told: Vec<String> = Vec::new();
    for line in entry.detail.split(|byte| *byte == b'\n') {
        let line = line.trim_ascii();
        let statement = line.strip_prefix(b"Process ").and_then(|rest| after(rest, b": "));
        match statement {
            Some(statement) => {
                let who = until(line, b':');
                told.push(format!("{}: {}", String::from_utf8_lossy(who), brief(statement, part)));
            }
            None if line.starts_with(b"Process ") => told.push(String::from_utf8_lossy(line).into_owned()),
            None => {} // a further line of a statement
        }
    }
    let database = String::from_utf8_lossy(entry.database).into_owned();
    part.tally.event(entry.moment, "deadlock", &database, told.join(" "));
}
