//! Processes as they end: taskstats tells each to whoever registered for it, with what it used and how long it lived.
//!
//! Source: Documentation/accounting/taskstats.rst, include/uapi/linux/taskstats.h, kernel/taskstats.c. The kernel registers
//! who holds CAP_NET_ADMIN and lives in the host's first namespaces of users and processes. A record that does not fit into
//! the socket's buffer is lost, and the next read says so.

use std::io;
use std::path::Path;

use super::taskstats::{ABOUT_GROUP, ABOUT_PID, GENERIC, SHIFTED_VERSION, STATS, command, find_family};
use crate::host::netlink::{Message, Socket, attributes, u16_at, u32_at, u64_at};

const REGISTER: u16 = 3;
/// Takes some 6,000 records; the kernel fills it only as processes end.
pub const BUFFER: usize = 8 << 20;
/// From version 12 (Linux 5.19) on a record tells which task was the last of its process.
const TELLS_LAST: u16 = 12;
/// cpu_run_real_total: by ticks of the clock, exact in sum over many. The scheduler's own clock (cpu_run_virtual_total) lacks
/// what a task ran since it was last looked at, which for a short life is most of it.
const CPU_AT: usize = 64;
/// Flags of linux/acct.h: forked and never executed a program; the last task of its process.
const FORKED: u8 = 0x01;
const LAST: u8 = 0x20;

/// A process that ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    pub pid: u32,
    pub ppid: u32,
    pub name: Vec<u8>,
    pub cpu_ns: u64,
    pub elapsed_us: u64,
}

pub struct Exits {
    socket: Socket,
}

impl Exits {
    /// Registers for all CPUs that there may be.
    pub fn open(sys: &Path) -> io::Result<Self> {
        let mut socket = Socket::open(GENERIC)?;
        let family = find_family(&mut socket)?;
        socket.hold(BUFFER)?;
        let cpus = std::fs::read_to_string(sys.join("devices/system/cpu/possible"))?;
        let cpus = format!("{}\0", cpus.trim());
        socket.send(&command(family, REGISTER, cpus.as_bytes()))?;
        socket.acknowledged()?;
        Ok(Self { socket })
    }

    /// Hands over those who ended since the last call; an error of kind `StorageFull` when some records were lost.
    pub fn take(&mut self, mut each: impl FnMut(Ended)) -> io::Result<()> {
        let mut lost = None;
        loop {
            match self.socket.receive_ready() {
                Ok(Some(messages)) => messages.filter_map(|message| parse(&message)).for_each(&mut each),
                Ok(None) => return lost.map_or(Ok(()), Err),
                Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => {
                    lost = Some(io::ErrorKind::StorageFull.into());
                }
                Err(error) => return Err(error),
            }
        }
    }
}

/// The process that a record tells of; nothing for a thread whose process lives on.
fn parse(message: &Message) -> Option<Ended> {
    let stats_of = |about: u16| {
        let (_, content) = attributes(message.payload.get(4..)?).find(|(kind, _)| *kind == about)?;
        attributes(content)
            .find(|(kind, _)| *kind == STATS)
            .map(|(_, stats)| stats)
    };
    let (task, group) = (stats_of(ABOUT_PID)?, stats_of(ABOUT_GROUP));
    let (version, flags) = (u16_at(task, 0)?, *task.get(8)?);
    let (is_process, pid_at, elapsed_at) = match version {
        SHIFTED_VERSION => return None,
        TELLS_LAST.. => (flags & LAST != 0, 368, 376),
        _ => (group.is_some() || flags & FORKED == 0, 128, 144),
    };
    let name = task.get(80..112)?;
    let length = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    is_process.then_some(Ended {
        pid: u32_at(task, pid_at)?,
        ppid: u32_at(task, 132)?,
        name: name[..length].to_vec(),
        cpu_ns: u64_at(group.unwrap_or(task), CPU_AT)?,
        elapsed_us: u64_at(task, elapsed_at)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::netlink::push_attribute;

    fn structure(version: u16, flags: u8) -> Vec<u8> {
        let mut bytes = vec![0; 416];
        bytes[..2].copy_from_slice(&version.to_ne_bytes());
        bytes[8] = flags;
        bytes[80..84].copy_from_slice(b"gzip");
        for (offset, value) in [(128, 77u32), (132, 5), (368, 70)] {
            bytes[offset..offset + 4].copy_from_slice(&value.to_ne_bytes());
        }
        for (offset, value) in [(CPU_AT, 9_000_000u64), (144, 40_000), (376, 50_000)] {
            bytes[offset..offset + 8].copy_from_slice(&value.to_ne_bytes());
        }
        bytes
    }

    fn parsed(version: u16, flags: u8, has_group: bool) -> Option<Ended> {
        let mut payload = vec![0; 4];
        for about in [ABOUT_PID, ABOUT_GROUP].into_iter().take(1 + usize::from(has_group)) {
            let mut content = Vec::new();
            push_attribute(&mut content, STATS, &structure(version, flags));
            push_attribute(&mut payload, about, &content);
        }
        parse(&Message {
            kind: 0,
            sequence: 0,
            payload: &payload,
        })
    }

    #[test]
    fn the_last_task_of_a_process_ends_it() {
        let ended = parsed(16, LAST | FORKED, false).unwrap();
        assert_eq!((ended.pid, ended.ppid, ended.elapsed_us), (70, 5, 50_000));
        assert_eq!((ended.name.as_slice(), ended.cpu_ns), (&b"gzip"[..], 9_000_000));
        assert_eq!(parsed(16, FORKED, false), None); // a thread
    }

    #[test]
    fn an_old_kernel_tells_of_those_who_executed_a_program() {
        assert_eq!(parsed(10, 0, false).unwrap().pid, 77);
        assert_eq!(parsed(10, FORKED, false), None); // a thread, or a forked process: not told apart
        assert!(parsed(10, FORKED, true).is_some());
        assert_eq!(parsed(SHIFTED_VERSION, LAST, false), None);
    }
}
