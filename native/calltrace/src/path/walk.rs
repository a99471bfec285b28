//! What a process did in an interval: its calls, and the time between them.

use crate::journal::Process;
use crate::layout::Layout;
use crate::names::Class;

/// What time went to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// A call, by the index of its entry.
    Call(u32),
    /// No call was running: it computed, or waited for a CPU.
    Outside,
    /// The trace, an excerpt, leaves it out.
    Unseen,
}

/// Stamps of truss are apart by up to this without anything between.
const TICKS_NS: u64 = 300_000;

/// The entry to begin with when looking at a process from a moment on.
pub fn first_after(process: &Process, from_ns: u64) -> u32 {
    process.entries.partition_point(|entry| entry.end_ns() <= from_ns) as u32
}

/// Give what a process did from one moment to another, without a hole, beginning with entry `first`.
pub fn walk(
    process: &Process,
    (layout, classes): (Layout, &[Class]),
    first: u32,
    (from_ns, to_ns): (u64, u64),
    mut give: impl FnMut(What, u64, u64),
) {
    let mut free_ns = from_ns;
    let mut next = first;
    for entry in process.entries.get(first as usize..).unwrap_or_default() {
        let start_ns = entry.start_ns;
        if start_ns >= to_ns {
            break;
        }
        if start_ns > free_ns && !(layout.has_delta && start_ns - free_ns <= TICKS_NS) {
            give(hole(process, next), free_ns, start_ns);
            free_ns = start_ns;
        }
        let end_ns = entry.end_ns().clamp(free_ns, to_ns.max(free_ns));
        give(What::Call(next), free_ns, end_ns);
        free_ns = end_ns;
        next += 1;
    }
    if free_ns < to_ns {
        give(rest(process, classes, next), free_ns, to_ns);
    }
}

fn hole(process: &Process, next: u32) -> What {
    if process.has_gap_before(next) {
        What::Unseen
    } else {
        What::Outside
    }
}

/// What a process did after the last of its calls before `next`. After an exit it is still being taken apart.
fn rest(process: &Process, classes: &[Class], next: u32) -> What {
    let last = next.checked_sub(1);
    let exits = last.is_some_and(|last| classes[process.entries[last as usize].site() as usize] == Class::Exit);
    match last {
        Some(last) if exits && next as usize == process.entries.len() => What::Call(last),
        _ => hole(process, next),
    }
}
