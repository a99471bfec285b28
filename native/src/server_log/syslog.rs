//! PostgreSQL's log in syslog: each line has a header of syslog's and a number like `[5-1]`; long lines are broken.

use super::lines;
use super::moment;

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
}

impl Header {
    /// `latest` is the year and month of the last line: headers may have no year.
    pub fn of(head: &[u8], latest: (i64, i64)) -> Self {
        let mut bodies = lines::of(head)
            .filter_map(|(_, line)| split(line))
            .map(|line| line.body);
        let has_time = |body: &[u8]| {
            (0..body.len().min(80))
                .any(|at| moment::clock(&body[at..]).is_some() || moment::epoch(&body[at..]).is_some())
        };
        let stamped = !bodies.any(has_time);
        Self { latest, stamped }
    }

    /// The lines as they would stand on standard error, one for each.
    pub fn plain(&self, bytes: &[u8]) -> Vec<u8> {
        let mut plain = Vec::with_capacity(bytes.len());
        for (_, line) in lines::of(bytes) {
            match split(line) {
                Some(line) if super::stderr::is_marked(line.body) => {
                    if self.stamped {
                        self.put_time(&line, &mut plain);
                    }
                    plain.extend_from_slice(line.body);
                }
                Some(line) => {
                    plain.push(b'\t');
                    plain.extend_from_slice(line.body.strip_prefix(b"#011").unwrap_or(line.body));
                }
                None => {} // another program's line: syslog is everybody's
            }
            plain.push(b'\n');
        }
        plain
    }

    fn put_time(&self, line: &Line, into: &mut Vec<u8>) {
        match moment::with_year(line.stamp, self.latest) {
            Some(text) => into.extend_from_slice(text.as_bytes()),
            None => into.extend_from_slice(line.stamp),
        }
        into.extend_from_slice(b" [");
        into.extend_from_slice(line.pid);
        into.extend_from_slice(b"]: ");
    }
}

/// `Nov 20 22:44:50 host postgres[123]: [5-1] body`, or with a time as ISO 8601 has it.
fn split(line: &[u8]) -> Option<Line<'_>> {
    let length = match moment::with_year(line, (1970, 12)) {
        Some(_) => moment::SYSLOG_TIME,
        None => 11 + moment::clock(line).and_then(|_| memchr::memchr(b' ', &line[11..]))?,
    };
    let stamp = &line[..length];
    let rest = &line[stamp.len()..];
    let close = memchr::memmem::find(rest, b"]: [")?;
    let open = memchr::memrchr(b'[', &rest[..close])?;
    let body = close + 4 + memchr::memmem::find(&rest[close + 4..], b"] ")? + 2;
    let pid = &rest[open + 1..close];
    pid.iter().all(u8::is_ascii_digit).then(|| Line {
        stamp,
        pid,
        body: &rest[body..],
    })
}
