//! Follows a wait on another process into that process, and on from there.
//!
//! The interval of the wait is handed to the process that was waited for, which is asked in turn what it did in it.
//! This is the critical path of a tree of processes, as in C. Q. Yang and B. P. Miller, "Critical path analysis for
//! the execution of parallel and distributed programs" (ICDCS 1988), walked from the waiter's side.

use crate::journal::{Action, Journal, Process, ProcessId};
use crate::names::Class;

use super::channels::Channels;
use super::walk::{What, first_after, walk};

/// Waits of waits are followed this far.
const DEEPEST: usize = 8;

/// A stretch of the critical path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    pub process: ProcessId,
    pub what: What,
    pub from_ns: u64,
    pub to_ns: u64,
    /// Whose wait it explains, and how that one waited; null for what the pass's own process did.
    pub waiter: Option<(ProcessId, How)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// For data that the other wrote.
    Reads,
    /// For the other to end.
    Waits,
}

/// Why a wait ended, and when.
struct Cause {
    process: ProcessId,
    until_ns: u64,
    how: How,
}

pub struct Follower<'a> {
    pub journal: &'a Journal,
    classes: Vec<Class>,
    channels: Channels,
}

impl<'a> Follower<'a> {
    pub fn new(journal: &'a Journal) -> Follower<'a> {
        Follower {
            journal,
            classes: journal.classes(),
            channels: Channels::of(journal),
        }
    }

    /// Give the pieces of the path of a process from entry `first` on, between two moments.
    pub fn path(&self, process: ProcessId, first: u32, span: (u64, u64), give: &mut dyn FnMut(Piece)) {
        self.explain(&mut vec![process], None, first, span, give);
    }

    /// `line` holds who waits for whom, the process that is asked last: nobody is asked about its own wait.
    fn explain(
        &self,
        line: &mut Vec<ProcessId>,
        waiter: Option<(ProcessId, How)>,
        first: u32,
        span: (u64, u64),
        give: &mut dyn FnMut(Piece),
    ) {
        let Some(&process) = line.last() else { return };
        let known = &self.journal.processes[process as usize];
        walk(
            known,
            (self.journal.layout, &self.classes),
            first,
            span,
            |what, from_ns, to_ns| {
                let explained_ns = match what {
                    What::Call(entry) if to_ns > from_ns => self.wait(line, entry, (from_ns, to_ns), give),
                    _ => None,
                };
                let from_ns = explained_ns.unwrap_or(from_ns);
                if explained_ns.is_none() || from_ns < to_ns {
                    give(Piece {
                        process,
                        what,
                        from_ns,
                        to_ns,
                        waiter,
                    });
                }
            },
        );
    }

    /// Hand a wait to whom it waited for. Says until when that explains it; null when nobody does.
    fn wait(
        &self,
        line: &mut Vec<ProcessId>,
        entry: u32,
        (from_ns, to_ns): (u64, u64),
        give: &mut dyn FnMut(Piece),
    ) -> Option<u64> {
        let waiter = *line.last()?;
        let cause = self.cause(waiter, entry)?;
        let until_ns = cause.until_ns.min(to_ns);
        if line.contains(&cause.process) || line.len() >= DEEPEST || until_ns <= from_ns {
            return None;
        }
        let other = &self.journal.processes[cause.process as usize];
        let began_ns = other.began_ns.clamp(from_ns, until_ns);
        let why = Some((waiter, cause.how));
        if began_ns > from_ns {
            // Before it was born, its parent was on the way to that; unless the parent is who waits.
            let parent = other.parent.filter(|parent| !line.contains(parent));
            self.follow(line, parent?, why, (from_ns, began_ns), give);
        }
        self.follow(line, cause.process, why, (began_ns, until_ns), give);
        Some(until_ns)
    }

    fn follow(
        &self,
        line: &mut Vec<ProcessId>,
        process: ProcessId,
        why: Option<(ProcessId, How)>,
        span: (u64, u64),
        give: &mut dyn FnMut(Piece),
    ) {
        line.push(process);
        let first = first_after(&self.journal.processes[process as usize], span.0);
        self.explain(line, why, first, span, give);
        line.pop();
    }

    fn cause(&self, process: ProcessId, entry: u32) -> Option<Cause> {
        let known = &self.journal.processes[process as usize];
        let waited = known.entries.get(entry as usize)?;
        let (from_ns, to_ns) = (waited.start_ns, waited.end_ns());
        let polls = self.classes[waited.site() as usize] == Class::Poll;
        // A poll waits for what is read next.
        match known.action(if polls { entry.saturating_add(1) } else { entry })? {
            Action::Reaped(child) if !polls => {
                let was_there = self.was_seen(child, from_ns, to_ns);
                was_there.then_some(Cause {
                    process: child,
                    until_ns: to_ns,
                    how: How::Waits,
                })
            }
            Action::Took(channel) => {
                let gift = self.channels.ended(channel, from_ns, to_ns)?;
                Some(Cause {
                    process: gift.giver,
                    until_ns: gift.end_ns.min(to_ns),
                    how: How::Reads,
                })
            }
            _ => None,
        }
    }

    /// Whether the trace shows anything of a process in an interval.
    fn was_seen(&self, process: ProcessId, from_ns: u64, to_ns: u64) -> bool {
        let known: &Process = &self.journal.processes[process as usize];
        let last_ns = known.entries.last().map_or(0, |entry| entry.end_ns());
        let end_ns = known.end.as_ref().map_or(last_ns, |(end_ns, _)| last_ns.max(*end_ns));
        let starts = known.entries.first().is_some_and(|entry| entry.start_ns < to_ns);
        starts && end_ns > from_ns
    }
}
