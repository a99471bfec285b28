//! What the sampler says when processes, or parts of what they do, are kept from it: each once, with how to grant it.

use std::fs;
use std::io;

use super::events::Events;

pub fn taskstats(events: &mut Events, error: &io::Error) {
    events.not_measured(
        "taskstats",
        &format!("{error}: switches and run-queue waits of processes with several threads are partly unknown, waits for I/O and memory entirely"),
        "run as root or grant CAP_NET_ADMIN (systemd: AmbientCapabilities=CAP_NET_ADMIN)",
    );
}

/// A process that ended since it was listed is no error: its files are gone, or those kept open say that there is no process.
pub fn unless_ended(error: &io::Error, events: &mut Events) {
    match error.kind() {
        io::ErrorKind::NotFound => {}
        _ if error.raw_os_error() == Some(libc::ESRCH) => {}
        io::ErrorKind::PermissionDenied => hidden(events),
        _ => events.not_measured(
            "some processes",
            &error.to_string(),
            "raise the limit of open files (LimitNOFILE=)",
        ),
    }
}

pub fn hidden(events: &mut Events) {
    events.not_measured(
        "processes of other users",
        "/proc hides them (hidepid)",
        "run as root, or mount /proc with gid= of a group that the recorder is in",
    );
}

pub fn io(events: &mut Events) {
    events.not_measured(
        "/proc/PID/io of other users' processes",
        "bytes read and written are known only for the own processes",
        if may_trace(&fs::read_to_string("/proc/self/status").unwrap_or_default()) {
            "CAP_SYS_PTRACE is there: a security module, or another user namespace, keeps them (dmesg tells of the former)"
        } else {
            "grant CAP_SYS_PTRACE, or CAP_NET_ADMIN for taskstats, which covers processes with one thread"
        },
    );
}

pub fn system_calls(events: &mut Events, error: &str) {
    events.not_measured(
        "system calls of processes that are busy in the kernel",
        error,
        "run as root, or grant CAP_PERFMON (CAP_SYS_ADMIN before Linux 5.8) and let it read tracefs \
         (mount -o remount,gid=GROUP,mode=750 /sys/kernel/tracing)",
    );
}

pub fn translation(events: &mut Events, error: &str) {
    events.not_measured(
        "what address translation costs database processes",
        error,
        "run as root, or grant CAP_PERFMON (CAP_SYS_ADMIN before Linux 5.8) and CAP_SYS_PTRACE",
    );
}

/// Whether a process has CAP_SYS_PTRACE, by its /proc/PID/status.
fn may_trace(status: &str) -> bool {
    const CAP_SYS_PTRACE: u32 = 19;
    let held = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let bits = held.and_then(|text| u64::from_str_radix(text.trim(), 16).ok());
    bits.is_some_and(|bits| bits >> CAP_SYS_PTRACE & 1 == 1)
}

pub fn delays(events: &mut Events) {
    events.not_measured(
        "block I/O and memory waits of processes",
        "delay accounting is off (kernel.task_delayacct = 0)",
        "sysctl kernel.task_delayacct=1, then restart the server: only processes started later are counted",
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_trace_is_not_told_to_be_allowed_to() {
        assert!(may_trace("Name:\tx\nCapEff:\t000001ffffffffff\n"));
        assert!(!may_trace("Name:\tx\nCapEff:\t0000000000000000\n"));
        assert!(!may_trace("Name:\tx\n"));
    }
}
