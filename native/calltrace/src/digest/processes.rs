//! Finds the process that a line is about: by pid and thread, a reused pid being another process.

use rustc_hash::FxHashMap;

use crate::journal::{Birth, ProcessId};

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
