//! Finds the process that a line is about: by pid and thread, a reused pid being another process.

use rustc_hash::FxHashMap;

use super::{Digest, Files, State};
use crate::event::{Event, Kind};
use crate::journal::{Birth, End, Process, ProcessId};
use crate::profile::ProcessSum;

/// Pids below this are looked up by index; Linux has none above.
const DIRECT: usize = 1 << 22;

/// The process that each pid and thread means now.
pub struct ByPid {
    /// Untouched pages of it take no memory.
    direct: Vec<u32>,
    others: FxHashMap<(u32, u32), ProcessId>,
}

impl Default for ByPid {
    fn default() -> ByPid {
        ByPid {
            direct: vec![0; DIRECT],
            others: FxHashMap::default(),
        }
    }
}

impl ByPid {
    pub fn get(&self, pid: u32, thread: u32) -> Option<ProcessId> {
        if thread == 0 && (pid as usize) < DIRECT {
            return self.direct[pid as usize].checked_sub(1);
        }
        self.others.get(&(pid, thread)).copied()
    }

    pub fn set(&mut self, pid: u32, thread: u32, process: ProcessId) {
        if thread == 0 && (pid as usize) < DIRECT {
            self.direct[pid as usize] = process + 1;
        } else {
            self.others.insert((pid, thread), process);
        }
    }
}

impl Digest {
    pub(super) fn process(&mut self, event: &Event, now_ns: u64) -> ProcessId {
        let pid = match event.kind {
            Kind::Attached if event.result > 0 => event.result as u32,
            _ if event.pid == 0 => self.file_pid,
            _ => event.pid,
        };
        let ends = matches!(event.kind, Kind::Exited | Kind::Killed);
        let known = self.by_pid.get(pid, event.thread);
        let known = known.filter(|&process| ends || self.journal.processes[process as usize].end.is_none());
        let process = self
            .interrupted(event)
            .or(known)
            .or_else(|| self.by_absence(pid, event))
            .unwrap_or_else(|| self.new_process(pid, event.thread, now_ns));
        if event.kind == Kind::Unfinished {
            self.begun_last = Some(process);
        }
        let state = &mut self.states[process as usize];
        self.backwards += u64::from(now_ns < state.stamp_ns);
        state.stamp_ns = now_ns;
        self.profile.processes[process as usize].last_ns = now_ns;
        let (first_ns, last_ns) = self.span_ns.unwrap_or((now_ns, now_ns));
        self.span_ns = Some((first_ns.min(now_ns), last_ns.max(now_ns)));
        process
    }

    pub(super) fn new_process(&mut self, pid: u32, thread: u32, now_ns: u64) -> ProcessId {
        let process = self.journal.processes.len() as ProcessId;
        self.journal.processes.push(Process {
            pid,
            thread,
            began_ns: now_ns,
            ..Process::default()
        });
        self.profile.processes.push(ProcessSum::default());
        let leader = if thread == 0 {
            None
        } else {
            self.first_thread(pid, process)
        };
        self.states.push(State {
            files: leader.map_or(self.files.len() as u32, |leader| self.states[leader as usize].files),
            ..State::default()
        });
        if let Some(leader) = leader {
            self.journal.processes[process as usize].parent = Some(leader);
            self.journal.processes[process as usize].birth = Birth::Thread;
        } else {
            self.files.push(Files::default());
        }
        self.by_pid.set(pid, thread, process);
        if let [parent] = self.forking[..]
            && leader.is_none()
        {
            self.adopt(parent, process, Birth::Forked, now_ns);
        }
        process
    }

    /// The first thread of a process that was seen stands for the process (truss -l); null when this is it.
    fn first_thread(&mut self, pid: u32, process: ProcessId) -> Option<ProcessId> {
        let known = self.by_pid.get(pid, 0);
        let alive = known.filter(|&first| self.journal.processes[first as usize].end.is_none());
        if alive.is_none() {
            self.by_pid.set(pid, 0, process);
        }
        alive
    }

    /// Make a process the child of another, with its descriptors.
    pub(super) fn adopt(&mut self, parent: ProcessId, child: ProcessId, birth: Birth, now_ns: u64) {
        let known = &mut self.journal.processes[child as usize];
        if known.parent.is_some() || parent == child {
            return;
        }
        known.parent = Some(parent);
        known.birth = birth;
        known.began_ns = known.began_ns.min(now_ns);
        let (theirs, own) = (self.states[parent as usize].files, self.states[child as usize].files);
        if birth == Birth::Thread {
            self.states[child as usize].files = theirs;
        } else {
            self.files[own as usize] = self.files[theirs as usize].clone();
        }
    }

    pub(super) fn ended(&mut self, process: ProcessId, now_ns: u64, end: End) {
        self.abandon(process, now_ns);
        self.journal.processes[process as usize].end = Some((now_ns, end));
    }

    /// A fork returned in the child: the result is the parent's pid.
    pub(super) fn child_returned(&mut self, process: ProcessId, now_ns: u64, event: &Event) {
        let parent = u32::try_from(event.result).ok().and_then(|pid| self.by_pid.get(pid, 0));
        if let Some(parent) = parent {
            self.adopt(parent, process, Birth::Forked, now_ns);
        }
        self.states[process as usize].free_ns = Some(now_ns);
    }
}

/// What a fork's arguments say about the child: whether it is a thread, which shares the descriptors.
pub fn birth_of(arguments: &[u8]) -> Birth {
    match memchr::memmem::find(arguments, b"CLONE_THREAD") {
        Some(_) => Birth::Thread,
        None => Birth::Forked,
    }
}

/// The child that a wait returned: its result, or what its arguments and their details name.
pub fn waited_for(result: i64, arguments: &[u8]) -> Option<u32> {
    if result > 0 {
        return u32::try_from(result).ok();
    }
    let after = |mark: &[u8]| memchr::memmem::find(arguments, mark).map(|at| at + mark.len());
    let digits = &arguments[after(b"si_pid=").or_else(|| after(b"P_PID, "))?..];
    let length = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&digits[..length]).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pid_means_what_it_was_last_set_to() {
        let mut by_pid = ByPid::default();
        assert_eq!(by_pid.get(7, 0), None);
        for (pid, thread, process) in [(7, 0, 0), (7, 0, 3), (u32::MAX, 0, 4), (7, 2, 5)] {
            by_pid.set(pid, thread, process);
            assert_eq!(by_pid.get(pid, thread), Some(process));
        }
        assert_eq!(by_pid.get(7, 0), Some(3));
    }

    #[test]
    fn the_child_waited_for_is_named_in_one_of_three_places() {
        assert_eq!(waited_for(12, b"-1, NULL, 0, NULL"), Some(12));
        assert_eq!(
            waited_for(0, b"P_PID, 8195, 0xFFFFFFFF7FFF6D10, WEXITED|WTRAPPED"),
            Some(8195)
        );
        assert_eq!(
            waited_for(0, b"P_ALL, 0, {si_signo=SIGCHLD, si_pid=77, si_uid=0}"),
            Some(77)
        );
        assert_eq!(waited_for(0, b"P_ALL, 0, NULL"), None);
        assert_eq!(waited_for(-1, b"P_PID, "), None);
    }
}
