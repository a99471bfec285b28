//! What the sampler says when processes, or parts of what they do, are kept from it: each once, with how to grant it.

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
        "grant CAP_SYS_PTRACE, or CAP_NET_ADMIN for taskstats, which covers processes with one thread",
    );
}

pub fn delays(events: &mut Events) {
    events.not_measured(
        "block I/O and memory waits of processes",
        "delay accounting is off (kernel.task_delayacct = 0)",
        "sysctl kernel.task_delayacct=1, then restart the server: only processes started later are counted",
    );
}
