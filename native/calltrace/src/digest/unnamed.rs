//! Lines without a pid: on a terminal `strace -f` names processes only while it traces several.

use super::Digest;
use crate::event::{Event, Kind};
use crate::journal::{Process, ProcessId};

impl Digest {
    /// The rest of a call that a message of strace's interrupted goes on with the call begun last.
    pub(super) fn interrupted(&self, event: &Event) -> Option<ProcessId> {
        let goes_on = event.kind == Kind::Resumed && event.name.is_empty() && event.pid == 0;
        self.begun_last.filter(|_| goes_on)
    }

    /// The process of a line whose pid means none that is alive, as far as the lines without a pid tell.
    pub(super) fn by_absence(&mut self, pid: u32, event: &Event) -> Option<ProcessId> {
        let process = match pid {
            0 => self.only_one()?,
            _ => self.unnamed(event)?,
        };
        self.by_pid.set(pid, 0, process);
        let known = &mut self.journal.processes[process as usize];
        if known.pid == 0 {
            known.pid = pid;
        }
        Some(process)
    }

    /// The only process that has not ended.
    fn only_one(&self) -> Option<ProcessId> {
        let alive = |(_, process): &(usize, &Process)| process.end.is_none();
        let mut alive = self.journal.processes.iter().enumerate().filter(alive);
        let only = alive.next()?.0 as ProcessId;
        alive.next().is_none().then_some(only)
    }

    /// The process whose lines had no pid until now, if this line can be its: a new child's first is no return of a call.
    fn unnamed(&self, event: &Event) -> Option<ProcessId> {
        let process = self.by_pid.get(0, 0)?;
        let known = &self.journal.processes[process as usize];
        let may_be = event.kind == Kind::Resumed || (event.kind != Kind::Attached && self.forking.is_empty());
        (event.thread == 0 && may_be && known.pid == 0 && known.end.is_none()).then_some(process)
    }
}
