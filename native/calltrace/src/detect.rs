//! What kind of file it is, found from its beginning.

use crate::layout::Layout;
use crate::strace;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detected {
    Trace(Layout),
    Empty,
    Binary,
    Unknown,
}

/// How much of a file is looked at.
const HEAD_BYTES: usize = 1 << 16;

pub fn detect(head: &[u8]) -> Detected {
    let head = &head[..head.len().min(HEAD_BYTES)];
    if head.trim_ascii().is_empty() {
        return Detected::Empty;
    }
    if head.contains(&0) {
        return Detected::Binary;
    }
    let lines: Vec<&[u8]> = head
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty())
        .collect();
    strace::sniff(&lines).map_or(Detected::Unknown, Detected::Trace)
}
