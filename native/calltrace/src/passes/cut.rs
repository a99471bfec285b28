//! Cuts the calls of a process into passes of its loop.

use super::anchor::{Anchor, Sites};
use crate::journal::{Entry, Process};

/// From the return of one idle wait to the start of the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pass {
    /// Its entries, the idle waits left out.
    pub first: u32,
    pub end: u32,
    pub from_ns: u64,
    pub to_ns: u64,
    /// The trace holds all of it.
    pub complete: bool,
    /// A connection was accepted in it.
    pub accepts: bool,
    /// The wait that it began after.
    pub idle_s: f64,
}

impl Pass {
    pub fn ns(&self) -> u64 {
        self.to_ns.saturating_sub(self.from_ns)
    }

    pub fn seconds(&self) -> f64 {
        self.ns() as f64 / 1e9
    }

    pub fn is_empty(&self) -> bool {
        self.first == self.end
    }
}

/// Give each pass of a process, in order, to `take`. A pass without a call is one too: it woke, and slept again.
pub fn cut(process: &Process, anchor: Anchor, sites: &Sites, mut take: impl FnMut(Pass)) {
    let accept_idles = anchor.idle.is_some_and(|site| sites.is_accept(site));
    let mut gaps = process.gaps.iter().map(|gap| gap.0).peekable();
    let mut open: Option<Pass> = None;
    let end_before = |at: u32| process.entries[..at as usize].last().map_or(0, Entry::end_ns);
    for (at, entry) in process.entries.iter().enumerate() {
        let at = at as u32;
        while gaps.next_if(|&gap| gap <= at).is_some() {
            if let Some(pass) = open.take() {
                take(cut_short(pass, at, end_before(at)));
            }
        }
        if anchor.idle == Some(entry.site()) {
            if let Some(pass) = open.take() {
                take(Pass {
                    end: at,
                    to_ns: entry.start_ns.max(pass.from_ns),
                    ..pass
                });
            }
            open = Some(Pass {
                complete: true,
                accepts: accept_idles && !entry.failed(),
                idle_s: entry.seconds(),
                ..begun(at + 1, entry.end_ns())
            });
            continue;
        }
        let pass = open.get_or_insert_with(|| begun(at, entry.start_ns));
        if anchor.server && sites.accepts(entry) {
            if !pass.complete && !pass.accepts {
                *pass = begun(at, entry.start_ns); // what came before it is not part of serving
            }
            pass.accepts = true;
        }
    }
    let end = process.entries.len() as u32;
    if let Some(pass) = open {
        take(cut_short(pass, end, end_before(end)));
    }
}

fn begun(first: u32, from_ns: u64) -> Pass {
    Pass {
        first,
        end: first,
        from_ns,
        to_ns: from_ns,
        complete: false,
        accepts: false,
        idle_s: 0.0,
    }
}

fn cut_short(pass: Pass, end: u32, last_ns: u64) -> Pass {
    Pass {
        end,
        to_ns: last_ns.max(pass.from_ns),
        complete: false,
        ..pass
    }
}
