//! What a step of a pass waits on, as far as the call and its descriptor tell.

use crate::journal::{Action, Journal, Process, Site};
use crate::names::Class;

/// Paths for which no disk is waited: the kernel's own files, memory, and devices that are none.
const NO_DISK: [&str; 13] = [
    "/proc/",
    "/sys/",
    "/dev/shm/",
    "/dev/hugepages/",
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/pt",
    "/dev/console",
    "/dev/log",
];

/// "child", "disk", "network", "lock", "sleep" or "name service"; null when the call does not wait, or on what is not
/// known. `example` is one of the step's entries.
pub fn waits_on(journal: &Journal, process: &Process, example: u32) -> Option<&'static str> {
    let site = &journal.sites[process.entries.get(example as usize)?.site() as usize];
    let took = |entry: u32| matches!(process.action(entry), Some(Action::Took(_)));
    match site.class {
        Class::Fork | Class::Wait => Some("child"),
        Class::Lock => Some("lock"),
        Class::Sleep => Some("sleep"),
        Class::Read | Class::Poll if took(example) => Some("child"),
        // A poll waits for what is read next.
        Class::Poll => {
            let next = process.entries.get(example as usize + 1)?;
            let reads = journal.sites[next.site() as usize].class == Class::Read;
            if reads {
                waits_on(journal, process, example + 1)
            } else {
                None
            }
        }
        Class::Sync | Class::ReadAt | Class::WriteAt => Some("disk"),
        Class::Read | Class::Write | Class::Connect => peer(site),
        Class::Accept => Some("network"),
        _ => None,
    }
}

fn peer(site: &Site) -> Option<&'static str> {
    let has = |part: &str| site.target.contains(part) || site.arguments.contains(part);
    let asks_names = has("nscd") || has("systemd/resolve") || has("htons(53)") || site.target.ends_with(":53");
    if asks_names {
        Some("name service")
    } else if is_on_disk(&site.target) && site.class != Class::Connect {
        Some("disk")
    } else if site.class == Class::Connect || site.target.contains("accepted from") || is_address(&site.target) {
        Some("network")
    } else {
        None
    }
}

fn is_on_disk(target: &str) -> bool {
    target.starts_with('/') && !NO_DISK.iter().any(|start| target.starts_with(start))
}

/// `10.0.0.1:5432`, or what strace -yy shows of a socket.
fn is_address(target: &str) -> bool {
    let sockets = ["TCP", "UDP", "UNIX", "socket:"];
    sockets.iter().any(|kind| target.starts_with(kind)) || target.parse::<std::net::SocketAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::is_on_disk;

    #[test]
    fn the_null_device_and_the_kernels_files_are_on_no_disk() {
        let disks = [
            "/var/lib/data/base/1",
            "/dev/sdb",
            "/dev/mapper/asm1",
            "/dev/rdsk/c0t0d0s0",
        ];
        assert!(disks.into_iter().all(is_on_disk));
        let none = [
            "/dev/null",
            "/dev/pts/3",
            "/dev/urandom",
            "/dev/shm/PostgreSQL.1",
            "/proc/1/stat",
            "socket:[7]",
        ];
        assert!(!none.into_iter().any(is_on_disk));
    }
}
