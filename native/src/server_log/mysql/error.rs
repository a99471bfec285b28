//! The error log of MariaDB and MySQL, 5.1 to 11 and 5.1 to 9: a time, perhaps a thread, `[Note]`, perhaps a code.

use std::collections::BTreeMap;

use crate::scrub::{Dialect, scrub};
use crate::server_log::entry::Severity;
use crate::server_log::figures as f;
use crate::server_log::lines::{self, Part};
use crate::server_log::messages::errors::without_constants;
use crate::server_log::moment::{self, Moment, Zones};
use crate::server_log::tally::MINUTE_US;
use crate::server_log::text::{after, between, digits, thousandths, until};

const RESTART: [&[u8]; 15] = [
    b"Starting MariaDB",
    b"starting as process",
    b"ready for connections",
    b"Normal shutdown",
    b"Shutdown complete",
    b"Received SHUTDOWN",
    b"got signal",
    b"Starting crash recovery",
    b"Starting XA crash recovery",
    b"crash recovery from checkpoint",
    b"was not shut down normally",
    b"was not shutdown normally",
    b"mysqld restarted",
    b"mysqld_safe Starting",
    b"Assertion failure",
];
const REPLICATION: [&[u8]; 8] = [
    b"Slave I/O",
    b"Slave SQL",
    b"Slave:",
    b"Replica I/O",
    b"Replica SQL",
    b"Semi-sync",
    b"binlog dump",
    b"WSREP:",
];
const DISK_FULL: [&[u8]; 4] = [b"Disk is full", b"No space left on device", b"is full", b"errno: 28"];
const SEMAPHORE: [&[u8]; 3] = [b"long semaphore wait", b"emaphore wait has lasted", b"Long wait ("];
const ENDED_ITSELF: &[u8] = b"We intentionally crash the server";
const MONITOR: &[u8] = b"INNODB MONITOR OUTPUT";
/// A time with two digits for the hour, or a blank for the first of them.
const CLOCK_BYTES: usize = 8;

struct Entry<'a> {
    moment: Moment,
    severity: Severity,
    code: &'a [u8],
    text: &'a [u8],
}

/// Whether a line begins a message.
pub fn is_start(line: &[u8]) -> bool {
    stamp(line).is_some()
}

/// Reads whole messages.
pub fn read(bytes: &[u8], part: &mut Part) {
    let mut begun: Option<usize> = None;
    for (begin, line) in lines::of(bytes) {
        part.lines += 1;
        if is_start(line) {
            close(begun, begin, bytes, part);
            begun = Some(begin);
        } else if begun.is_none() && !line.is_empty() {
            part.foreign();
        }
    }
    close(begun, bytes.len(), bytes, part);
}

fn close(begun: Option<usize>, end: usize, bytes: &[u8], part: &mut Part) {
    let Some(begin) = begun else { return };
    if let Some(entry) = entry(bytes[begin..end].trim_ascii_end(), &mut part.tally.zones) {
        if until(entry.text, b'\n').trim_ascii_end().ends_with(MONITOR) {
            // The monitor's own lines are taken out; what follows without a time is of its moment.
            part.tally.cover(entry.moment);
        } else {
            part.tally.message(entry.moment, entry.severity);
        }
        take(&entry, part);
    }
}

/// Local or exact time, and what follows: `2026-11-21  9:53:03 0 [Note]`, `2026-11-21T09:53:03.123456Z`, `261121  9:53:03`.
fn stamp(line: &[u8]) -> Option<(String, usize)> {
    let (day, length) = match line.get(6) {
        Some(b' ') => {
            let digits = line[..6].iter().all(u8::is_ascii_digit).then_some(&line[..6])?;
            let part = |at: usize| String::from_utf8_lossy(&digits[at..at + 2]);
            (format!("20{}-{}-{}", part(0), part(2), part(4)), 6)
        }
        _ => (str::from_utf8(line.get(..10)?).ok()?.to_string(), 10),
    };
    let rest = line.get(length + 1..)?;
    let time = until(rest, b' ');
    // A space stands for the first digit of an hour.
    let (hour, used) = if time.is_empty() {
        (b"0".as_slice(), 1)
    } else {
        (b"".as_slice(), 0)
    };
    let mut time = until(rest.get(used..)?, b' ');
    if length == 6 {
        // Versions before 5.1 put no blank behind it.
        time = &time[..time.len().min(CLOCK_BYTES - used)];
    }
    let text = format!("{day} {}{}", String::from_utf8_lossy(hour), str::from_utf8(time).ok()?);
    moment::clock(text.as_bytes())?;
    Some((text, length + 1 + used + time.len()))
}

fn entry<'a>(text: &'a [u8], zones: &mut Zones) -> Option<Entry<'a>> {
    let (written, length) = stamp(text)?;
    let (moment, _) = moment::at_begin(written.as_bytes(), zones)?;
    let mut rest = text[length..].trim_ascii_start();
    let thread = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if rest[thread..].starts_with(b" [") {
        rest = &rest[thread + 1..];
    }
    let (mut severity, mut code) = (Severity::Notice, &b""[..]);
    while let Some(bracket) = rest.strip_prefix(b"[") {
        let word = until(bracket, b']');
        match word {
            b"ERROR" | b"Error" => severity = Severity::Error,
            b"Warning" => severity = Severity::Warning,
            b"System" => severity = Severity::Log,
            _ if word.starts_with(b"MY-") => code = word,
            _ => {} // [Note], and what part of the server it is
        }
        rest = bracket[word.len()..].strip_prefix(b"]")?.trim_ascii_start();
    }
    Some(Entry {
        moment,
        severity,
        code,
        text: rest,
    })
}

fn has(text: &[u8], known: &[&[u8]]) -> bool {
    known.iter().any(|mark| memchr::memmem::find(text, mark).is_some())
}

fn take(entry: &Entry, part: &mut Part) {
    let first = until(entry.text, b'\n').trim_ascii_end();
    if has(entry.text, &SEMAPHORE) {
        semaphores(entry, first, part);
    }
    if matches!(entry.severity, Severity::Error | Severity::Warning) {
        error(entry, first, part);
    }
    if first.starts_with(b"Aborted connection") || has(first, &[b" Aborted connection"]) {
        let reason = memchr::memrchr(b'(', first).map_or(&b""[..], |at| until(&first[at + 1..], b')'));
        part.tally.add(entry.moment, f::ABORTED, reason, 1);
    } else if first.starts_with(b"Access denied") {
        part.tally.add(entry.moment, f::DENIED, b"", 1);
    } else if has(first, &[b"Too many connections"]) {
        part.tally.add(entry.moment, f::TOO_MANY, b"", 1);
        let local_us = entry.moment.local_us - entry.moment.local_us.rem_euclid(MINUTE_US);
        part.tally.event(
            Moment {
                local_us,
                ..entry.moment
            },
            "connection refused",
            "",
            plain(first),
        );
    } else if has(first, &[b"deadlock detected"]) {
        part.tally.add(entry.moment, f::INNODB_DEADLOCKS, b"", 1);
    } else if let Some(number) = between(entry.text, b"*** (", b") TRANSACTION:") {
        deadlocked(entry, number, part);
    } else if let Some(took) = after(first, b"intended loop took ").or(after(first, b"Page cleaner took ")) {
        part.tally.add(entry.moment, f::PAGE_CLEANER_LATE, b"", 1);
        if let Some(ms) = digits(took) {
            part.tally.reading(entry.moment, f::PAGE_CLEANER_LOOP, b"", ms);
        }
    } else if has(first, &RESTART) {
        let text = String::from_utf8_lossy(first).into_owned();
        part.tally.event(entry.moment, "restart", "", text);
    } else if entry.severity != Severity::Notice && has(first, &DISK_FULL) {
        part.tally.event(entry.moment, "disk full", "", plain(first));
    } else if has(first, &REPLICATION) {
        part.tally.event(entry.moment, "replication", "", plain(first));
    }
}

/// Waits for latches, each told in lines of its own, without a time in old versions; the longest of each place.
fn semaphores(entry: &Entry, first: &[u8], part: &mut Part) {
    let mut places: BTreeMap<String, i64> = BTreeMap::new();
    let mut count = 0;
    for line in entry.text.split(|byte| *byte == b'\n') {
        let Some(rest) = line.strip_prefix(b"--Thread ") else {
            continue;
        };
        let place = between(rest, b" has waited at ", b" for ");
        let waited = after(rest, b" for ").and_then(thousandths);
        if let (Some(place), Some(waited_ms)) = (place, waited) {
            let longest = places.entry(String::from_utf8_lossy(place).into_owned()).or_default();
            *longest = waited_ms.max(*longest);
            count += 1;
        }
    }
    part.tally.add(entry.moment, f::SEMAPHORE_WAITS, b"", count.max(1));
    for (place, longest_ms) in &places {
        let text = format!("{place}: for {} s", longest_ms / 1000);
        part.tally.reading(entry.moment, f::SEMAPHORE_LONGEST, b"", *longest_ms);
        part.tally.event(entry.moment, "semaphore wait", "", text);
    }
    if memchr::memmem::find(entry.text, ENDED_ITSELF).is_some() {
        part.tally.event(
            entry.moment,
            "restart",
            "",
            String::from_utf8_lossy(ENDED_ITSELF).into_owned(),
        );
    }
    if places.is_empty() {
        part.tally.event(entry.moment, "semaphore wait", "", plain(first));
    }
}

fn error(entry: &Entry, first: &[u8], part: &mut Part) {
    let code = String::from_utf8_lossy(entry.code);
    let space = if code.is_empty() { "" } else { " " };
    let name = format!("{} {code}{space}{}", entry.severity.word(), plain(first));
    part.tally.add(entry.moment, f::ERRORS, name.as_bytes(), 1);
}

/// A message without its numbers, what stands in quotes, and the statement that some quote whole, quotes and all.
fn plain(message: &[u8]) -> String {
    let mut scrubbed = Vec::new();
    let statement = after(message, b"tatement: ").or(after(message, b"tatement '"));
    let message = &message[..message.len() - statement.map_or(0, <[u8]>::len)];
    scrub(message, Dialect::MySql, &mut scrubbed);
    without_constants(&scrubbed)
}

/// The statement of one of the transactions, which stands behind the line that names its thread.
fn deadlocked(entry: &Entry, number: &[u8], part: &mut Part) {
    let Some(statement) = after(entry.text, b", query id ").and_then(|rest| after(rest, b"\n")) else {
        return;
    };
    let end = memchr::memmem::find(statement, b"\n***").unwrap_or(statement.len());
    scrub(&statement[..end], Dialect::MySql, &mut part.scratch);
    let text = String::from_utf8_lossy(&part.scratch).into_owned();
    let subject = format!("transaction {}", String::from_utf8_lossy(number));
    part.tally.event(entry.moment, "deadlock", &subject, text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_writes_its_times() {
        for (line, text) in [
            (&b"2026-11-21  9:53:03 0 [Note] a"[..], &b"a"[..]),
            (b"2026-11-21T09:53:03.123456Z 8 [Warning] [MY-010055] [Server] a", b"a"),
            (b"2026-11-21 09:53:03 1234 [ERROR] a", b"a"),
            (b"261121  9:53:03 [Note] a", b"a"),
            (b"261121 09:53:03 mysqld_safe a", b"mysqld_safe a"),
            (b"261121  9:53:03InnoDB: a", b"InnoDB: a"),
            (b"261121 09:53:03InnoDB: a", b"InnoDB: a"),
        ] {
            let mut zones = Zones::default();
            let entry = entry(line, &mut zones).unwrap();
            assert_eq!(entry.moment.local_us / 1_000_000, 1_795_254_783);
            assert_eq!(entry.text, text);
        }
        assert!(!is_start(b"Version: '10.11.19'  socket: '/tmp/s'  port: 3306"));
        assert!(!is_start(b"InnoDB: a line that goes on"));
        for text in [&b"261121"[..], b"261121 ", b"2026-11-21", b"2026-11-21 ", b"261121  "] {
            assert!(!is_start(text));
        }
    }
}
