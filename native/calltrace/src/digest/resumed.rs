//! Calls whose start and return stand on two lines, or whose return is not written at all.

use super::{Digest, Done, Span, measured};
use crate::event::{Event, NO_NUMBER, Reason};
use crate::journal::ProcessId;
use crate::layout::Clock;
use crate::names::Class;

/// A call that has not returned.
pub(super) struct Pending {
    start_ns: u64,
    done: Done,
    /// Kept for calls whose meaning lies in them.
    arguments: Vec<u8>,
}

/// A call whose duration the trace does not give: it is taken to last until the process's next line.
pub(super) struct Held {
    start_ns: u64,
    entry: Option<u32>,
    call: u16,
    target: u32,
}

impl Digest {
    pub(super) fn hold(&mut self, done: &Done, start_ns: u64) {
        if self.journal.layout.clock == Clock::None {
            return;
        }
        let entries = self.journal.processes[done.process as usize].entries.len() as u32;
        self.states[done.process as usize].held = Some(Held {
            start_ns,
            entry: if self.detail_left > 0 {
                entries.checked_sub(1)
            } else {
                None
            },
            call: done.call,
            target: done.target,
        });
    }

    /// The process goes on: a call of unknown duration has returned by now.
    pub(super) fn release(&mut self, process: ProcessId, now_ns: u64) {
        let Some(held) = self.states[process as usize].held.take() else {
            return;
        };
        let elapsed_ns = now_ns.saturating_sub(held.start_ns);
        self.elapsed.until_next_call += 1;
        self.profile.add_time(process, held.call, held.target, elapsed_ns);
        self.states[process as usize].free_ns = Some(now_ns);
        if let Some(entry) = held.entry {
            self.journal.processes[process as usize].entries[entry as usize].elapsed_s =
                (elapsed_ns as f64 / 1e9) as f32;
        }
    }

    /// The start of a call that returns on a later line.
    pub(super) fn begin(&mut self, process: ProcessId, now_ns: u64, chunk: &[u8], event: &Event) {
        if self.journal.layout.stamped_at_return {
            // truss writes the call again, whole, when it returns.
            let asleep_ns = self.states[process as usize].asleep_ns.get_or_insert(0);
            *asleep_ns = asleep_ns.saturating_add(event.delta_ns.max(0) as u64);
            return;
        }
        if self.states[process as usize].pending.is_some() {
            self.abandon(process, now_ns);
        }
        let done = self.what(process, chunk, event);
        self.outside(process, now_ns);
        let keeps = !done.class.moves_data() && done.class != Class::Seek;
        self.states[process as usize].pending = Some(Pending {
            start_ns: now_ns,
            done,
            arguments: if keeps {
                event.arguments.of(chunk).to_vec()
            } else {
                Vec::new()
            },
        });
        if done.class == Class::Fork {
            self.forking.push(process);
        }
    }

    pub(super) fn resume(&mut self, process: ProcessId, now_ns: u64, chunk: &[u8], event: &Event) {
        let Some(pending) = self.states[process as usize].pending.take() else {
            return self.resume_unseen(process, now_ns, chunk, event);
        };
        let mut done = pending.done;
        if event.size != NO_NUMBER || event.offset != NO_NUMBER {
            (done.size, done.offset) = (event.size, event.offset);
        }
        let elapsed_ns = measured(event).unwrap_or(now_ns.saturating_sub(pending.start_ns));
        self.elapsed.measured += 1;
        let span = Span {
            start_ns: pending.start_ns,
            elapsed_ns: Some(elapsed_ns),
        };
        self.states[process as usize].free_ns = Some(pending.start_ns.saturating_add(elapsed_ns));
        if pending.arguments.is_empty() {
            self.record(&done, span, event, chunk, event.arguments.of(chunk));
        } else {
            let mut arguments = pending.arguments;
            arguments.extend_from_slice(event.arguments.of(chunk));
            self.record(&done, span, event, chunk, &arguments);
        }
        self.forking.retain(|&forking| forking != process);
        self.last = Some(done);
    }

    /// The return of a call whose start the trace does not hold: its duration may still stand there.
    pub(super) fn resume_unseen(&mut self, process: ProcessId, now_ns: u64, chunk: &[u8], event: &Event) {
        let Some(elapsed_ns) = measured(event) else {
            return self.skip(Reason::NoStart, 1, None, event.name.of(chunk));
        };
        self.elapsed.measured += 1;
        let done = self.what(process, chunk, event);
        let span = Span {
            start_ns: now_ns.saturating_sub(elapsed_ns),
            elapsed_ns: Some(elapsed_ns),
        };
        self.states[process as usize].free_ns = Some(now_ns);
        self.record(&done, span, event, chunk, event.arguments.of(chunk));
    }

    /// A call that will not return: the trace lost its end, or the process or the trace ended within it.
    pub(super) fn abandon(&mut self, process: ProcessId, now_ns: u64) {
        let Some(pending) = self.states[process as usize].pending.take() else {
            return;
        };
        self.forking.retain(|&forking| forking != process);
        let name = self.journal.calls[pending.done.call as usize].name.clone();
        self.skip(Reason::NoEnd, 1, None, name.as_bytes());
        let span = Span {
            start_ns: pending.start_ns,
            elapsed_ns: Some(now_ns.saturating_sub(pending.start_ns)),
        };
        self.record(&pending.done, span, &Event::default(), &[], &pending.arguments);
    }
}
