//! What stands before the call: process, thread, and up to three times.
//!
//! Solaris: `15697:`, `19167/1:`, `/1:`, `19167/1@1:`, then `1.5426 1.0901 0.0000`. AIX: `4456544: 83624347: 0.0001:`.

use crate::digits;
use crate::event::NO_TIME;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    pub pid: u32,
    pub thread: u32,
    /// The line names its process or its thread.
    pub is_named: bool,
    /// Nanoseconds, in the order they stand there; `NO_TIME` when out of range.
    pub times: [i64; 3],
    pub count: usize,
    /// Where the call begins.
    pub body: usize,
}

pub fn read(line: &[u8]) -> Columns {
    let mut columns = Columns::default();
    let mut at = blanks(line, 0);
    if let Some(end) = process(line, at, &mut columns) {
        columns.is_named = true;
        at = blanks(line, end);
        if columns.thread == 0
            && let Some((thread, end)) = number(line, at)
            && ends(line, end)
        {
            columns.thread = thread;
            at = blanks(line, end + 1);
        }
    }
    while columns.count < columns.times.len()
        && let Some((time_ns, end)) = time(line, at)
    {
        columns.times[columns.count] = time_ns;
        columns.count += 1;
        at = blanks(line, end);
    }
    columns.body = at;
    columns
}

/// `15697:`, `19167/1:`, `/1:`, `/1@2:`; returns what follows the colon.
fn process(line: &[u8], at: usize, columns: &mut Columns) -> Option<usize> {
    let (pid, mut end) = number(line, at).unwrap_or((0, at));
    let mut thread = 0;
    if line.get(end) == Some(&b'/') {
        (thread, end) = number(line, end + 1)?;
    }
    if line.get(end) == Some(&b'@') {
        (_, end) = number(line, end + 1)?;
    }
    if end == at || !ends(line, end) {
        return None;
    }
    (columns.pid, columns.thread) = (pid, thread);
    Some(end + 1)
}

/// A colon that ends a column, or the line.
fn ends(line: &[u8], at: usize) -> bool {
    line.get(at) == Some(&b':') && matches!(line.get(at + 1), None | Some(b' ' | b'\t'))
}

fn number(line: &[u8], at: usize) -> Option<(u32, usize)> {
    let text = line.get(at..)?;
    let len = digits::count(text);
    Some((u32::try_from(digits::decimal(&text[..len])?).ok()?, at + len))
}

/// `1.5426` or `1.5426:`, and where it ends.
fn time(line: &[u8], at: usize) -> Option<(i64, usize)> {
    let text = line.get(at..)?;
    let whole = digits::count(text);
    if whole == 0 || text.get(whole) != Some(&b'.') {
        return None;
    }
    let len = whole + 1 + digits::count(&text[whole + 1..]);
    let colon = usize::from(text.get(len) == Some(&b':'));
    let follows = matches!(text.get(len + colon), Some(b' ' | b'\t'));
    (follows && len > whole + 1).then_some(())?;
    let time_ns = digits::seconds_ns(&text[..len]).unwrap_or(NO_TIME);
    Some((time_ns, at + len + colon))
}

pub fn blanks(line: &[u8], at: usize) -> usize {
    let rest = line.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}
