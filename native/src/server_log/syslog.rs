//! PostgreSQL's log in syslog or the journal: each line has a header of syslog's. Of what the server sent there itself
//! long lines are broken, and numbered like `[5-1]`; what went there from its standard error has no numbers.

use super::lines::{self, Part};
use super::moment;
use super::prefix::Patterns;
use super::stderr;

/// Processes whose last message may go on.
const MOST_OPEN: usize = 1000;

/// What to make of the headers.
pub struct Header {
    /// Year and month of the last line.
    latest: (i64, i64),
    /// The lines have no time of their own: the header's is put before them.
    stamped: bool,
}

struct Line<'a> {
    stamp: &'a [u8],
    pid: &'a [u8],
    body: &'a [u8],
    /// The first line of its message.
    is_first: bool,
}

impl Header {
    /// `latest` is the year and month of the last line: headers may have no year.
    pub fn of(head: &[u8], latest: (i64, i64)) -> Self {
        let bodies = lines::of(head)
            .filter_map(|(_, line)| split(line))
            .map(|line| line.body);
        let has_time = |prefix: &[u8]| {
            let mut begins = (0..prefix.len()).map(|at| &prefix[at..]);
            begins.any(|rest| moment::clock(rest).is_some() || moment::epoch(rest).is_some())
        };
        let stamped = !bodies.filter_map(stderr::prefix_of).any(has_time);
        Self { latest, stamped }
    }

    /// The lines that begin messages or parts of them, as they would stand on standard error.
    pub fn plain(&self, bytes: &[u8]) -> Vec<u8> {
        let mut plain = Vec::new();
        for line in lines::of(bytes).filter_map(|(_, line)| split(line)) {
            if stderr::prefix_of(line.body).is_some() {
                self.put(&line, &mut plain);
            }
        }
        plain
    }

    /// Writes a line as it would stand on standard error.
    fn put(&self, line: &Line, into: &mut Vec<u8>) {
        if stderr::prefix_of(line.body).is_none() {
            into.push(b'\t');
            into.extend_from_slice(line.body.strip_prefix(b"#011").unwrap_or(line.body));
        } else {
            if self.stamped {
                match moment::with_year(line.stamp, self.latest) {
                    Some(text) => into.extend_from_slice(text.as_bytes()),
                    None => into.extend_from_slice(line.stamp),
                }
                into.push(b' ');
            }
            into.extend_from_slice(line.body);
        }
        into.push(b'\n');
    }
}

/// Reads lines: those of one message are gathered, for processes write between each other's lines.
pub fn read(bytes: &[u8], header: &Header, patterns: &Patterns, part: &mut Part) {
    for (_, text) in lines::of(bytes) {
        part.lines += 1;
        let Some(line) = split(text) else { continue }; // syslog is everybody's
        let known = part.open.iter().position(|(pid, _)| pid == line.pid);
        if line.is_first || part.open.len() > MOST_OPEN {
            if let Some(known) = known.or((part.open.len() > MOST_OPEN).then_some(0)) {
                let (_, message) = part.open.remove(known);
                whole(&message, patterns, part);
            }
            part.open.push((line.pid.to_vec(), Vec::new()));
        }
        if let Some((_, message)) = part.open.iter_mut().rev().find(|(pid, _)| pid == line.pid) {
            header.put(&line, message);
        }
    }
}

/// Reads what is still open: the log has ended.
pub fn end(patterns: &Patterns, part: &mut Part) {
    for (_, message) in std::mem::take(&mut part.open) {
        whole(&message, patterns, part);
    }
}

fn whole(message: &[u8], patterns: &Patterns, part: &mut Part) {
    let lines = part.lines;
    stderr::read(message, patterns, part);
    part.lines = lines;
}

/// `Nov 20 22:44:50 host postgres[123]: [5-1] body`, or with a time as ISO 8601 has it, or without the number.
fn split(line: &[u8]) -> Option<Line<'_>> {
    let length = match moment::with_year(line, (1970, 12)) {
        Some(_) => moment::SYSLOG_TIME,
        None => 11 + moment::clock(line).and_then(|_| memchr::memchr(b' ', &line[11..]))?,
    };
    let stamp = &line[..length];
    let rest = &line[stamp.len()..];
    let close = memchr::memmem::find(rest, b"]: ")?;
    let open = memchr::memrchr(b'[', &rest[..close])?;
    let pid = &rest[open + 1..close];
    let (is_first, body) = numbered(&rest[close + 3..]);
    pid.iter().all(u8::is_ascii_digit).then_some(Line {
        stamp,
        pid,
        body,
        is_first,
    })
}

/// Whether a line is the first of its message, and what stands behind its number.
fn numbered(text: &[u8]) -> (bool, &[u8]) {
    let length = text
        .strip_prefix(b"[")
        .and_then(|rest| memchr::memmem::find(rest, b"] ").filter(|end| is_number(&rest[..*end])));
    match length {
        Some(length) => (text[..=length].ends_with(b"-1"), &text[length + 3..]),
        None => (stderr::is_start(text), text),
    }
}

/// `5-1`
fn is_number(text: &[u8]) -> bool {
    text.contains(&b'-') && text.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-')
}
