//! Lines of a log, and what was read of a part of it.

use super::tally::Tally;

/// Lines that are named one by one; the others of a reason are counted.
const MOST_NAMED: usize = 20;

/// A part of a log that one thread reads.
#[derive(Default)]
pub struct Part {
    pub tally: Tally,
    /// Lines read so far in this part.
    pub lines: u64,
    /// Line of the part, and why it was of no use.
    pub skipped: Vec<(u64, &'static str)>,
    pub skipped_lines: u64,
    /// Messages in syslog that may go on: the process, and the lines so far.
    pub open: Vec<(Vec<u8>, Vec<u8>)>,
    /// For scrubbed statements.
    pub scratch: Vec<u8>,
}

impl Part {
    pub fn skip(&mut self, reason: &'static str) {
        self.skipped_lines += 1;
        if self.skipped.len() < MOST_NAMED {
            self.skipped.push((self.lines, reason));
        }
    }

    pub fn foreign(&mut self) {
        self.skip("no line of the server's: another program wrote it");
    }
}

/// Where each line begins, and the line without its end.
pub fn of(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        if at >= bytes.len() {
            return None;
        }
        let begin = at;
        let end = memchr::memchr(b'\n', &bytes[begin..]).map_or(bytes.len(), |end| begin + end);
        at = end + 1;
        let line = &bytes[begin..end];
        Some((begin, line.strip_suffix(b"\r").unwrap_or(line)))
    })
}
