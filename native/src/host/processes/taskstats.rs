//! TASKSTATS over generic netlink: what a task, or all threads of a process, used and waited for.
//!
//! Source: Shailabh Nagar, Balbir Singh, Jay Lan, include/uapi/linux/taskstats.h, Linux 2.6.18 (2006). The kernel answers only
//! who holds CAP_NET_ADMIN in the first network namespace. Asked by process id it tells about one thread, I/O and faults
//! included; asked by thread group, about the waits and switches of all threads together.

use std::io;

use crate::host::netlink::{self, Message, Socket, attributes, push_attribute, push_message, u16_at, u32_at, u64_at};

pub const GENERIC: i32 = 16;
const CONTROL_FAMILY: u16 = 16;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;
const GET: u8 = 1;
const ASK_PID: u16 = 1;
const ASK_GROUP: u16 = 2;
pub const STATS: u16 = 3;
pub const ABOUT_PID: u16 = 4;
pub const ABOUT_GROUP: u16 = 5;

/// Linux 6.14 put new fields in the middle; version 16 put them at the end, where they belong.
pub const SHIFTED_VERSION: u16 = 15;
/// Answers wait in the socket's buffer, which holds some 200 of them.
const AT_ONCE: usize = 64;

/// Sums since the task (or process) started.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
pub struct Stats {
    pub scheduled: u64,
    pub run_ns: u64,
    pub run_wait_ns: u64,
    /// Whether the kernel counts this task's delays: at least one was counted.
    pub has_delays: bool,
    pub io_wait_ns: u64,
    pub memory_wait_ns: u64,
    pub vcsw: u64,
    pub icsw: u64,
    /// Only when asked by process id.
    pub read_bytes: u64,
    pub write_bytes: u64,
}

impl Stats {
    /// Reads the structure of versions 8 (Linux 3.10 has it) and later; nothing from versions it cannot trust.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let version = u16_at(bytes, 0)?;
        if version < 8 || version == SHIFTED_VERSION {
            return None;
        }
        let at = |offset: usize| u64_at(bytes, offset);
        let later = |offset: usize| at(offset).unwrap_or(0);
        // Counts of delays: block I/O, swap-in, reclaim, refaults, compaction, copy on write.
        let delays = [32, 48, 312, 328, 352, 400].map(later);
        Some(Self {
            scheduled: at(16)?,
            run_wait_ns: at(24)?,
            io_wait_ns: at(40)?,
            run_ns: at(72)?,
            read_bytes: at(248)?,
            write_bytes: at(256)?,
            vcsw: at(272)?,
            icsw: at(280)?,
            memory_wait_ns: at(56)? + at(320)? + later(336) + later(360),
            has_delays: delays.iter().any(|&count| count > 0),
        })
    }
}

/// Whom to ask about.
#[derive(Clone, Copy, Debug)]
pub enum About {
    Thread(u32),
    Process(u32),
}

pub struct Taskstats {
    socket: Socket,
    family: u16,
    requests: Vec<u8>,
}

impl Taskstats {
    /// Finds the family and asks about this very process, so that a refusal comes here and not later.
    pub fn open() -> io::Result<Self> {
        let mut socket = Socket::open(GENERIC)?;
        let family = find_family(&mut socket)?;
        let mut taskstats = Self {
            socket,
            family,
            requests: Vec::new(),
        };
        let mut answers = [None];
        taskstats.ask(&[About::Process(std::process::id())], &mut answers)?;
        match answers {
            [Some(_)] => Ok(taskstats),
            [None] => Err(io::ErrorKind::PermissionDenied.into()),
        }
    }

    /// Asks many at a time; whoever ended meanwhile gets no answer.
    pub fn ask(&mut self, about: &[About], answers: &mut [Option<Stats>]) -> io::Result<()> {
        for (about, answers) in about.chunks(AT_ONCE).zip(answers.chunks_mut(AT_ONCE)) {
            self.requests.clear();
            for (position, about) in about.iter().enumerate() {
                push_request(&mut self.requests, self.family, position as u32, *about);
            }
            self.socket.send(&self.requests)?;
            self.collect(answers)?;
        }
        Ok(())
    }

    fn collect(&mut self, answers: &mut [Option<Stats>]) -> io::Result<()> {
        let mut open = answers.len();
        while open > 0 {
            for message in self.socket.receive()? {
                open = open.saturating_sub(1);
                if let Some(answer) = answers.get_mut(message.sequence as usize) {
                    *answer = parse_answer(&message);
                }
            }
        }
        Ok(())
    }
}

fn push_request(requests: &mut Vec<u8>, family: u16, sequence: u32, about: About) {
    let (kind, id) = match about {
        About::Thread(id) => (ASK_PID, id),
        About::Process(id) => (ASK_GROUP, id),
    };
    let mut content = [0; 12];
    content[0] = GET;
    content[1] = 1;
    content[4..6].copy_from_slice(&8u16.to_ne_bytes());
    content[6..8].copy_from_slice(&kind.to_ne_bytes());
    content[8..].copy_from_slice(&id.to_ne_bytes());
    push_message(requests, family, netlink::REQUEST, sequence, &content);
}

fn parse_answer(message: &Message) -> Option<Stats> {
    if message.kind == netlink::ERROR {
        return None;
    }
    let (_, about) =
        attributes(message.payload.get(4..)?).find(|(kind, _)| matches!(*kind, ABOUT_PID | ABOUT_GROUP))?;
    let (_, stats) = attributes(about).find(|(kind, _)| *kind == STATS)?;
    Stats::parse(stats)
}

/// A command of the family with one attribute, which the kernel answers with its word alone.
pub fn command(family: u16, attribute: u16, value: &[u8]) -> Vec<u8> {
    let (mut request, mut content) = (Vec::new(), vec![GET, 1, 0, 0]);
    push_attribute(&mut content, attribute, value);
    let flags = netlink::REQUEST | netlink::ACKNOWLEDGE;
    push_message(&mut request, family, flags, 0, &content);
    request
}

pub fn find_family(socket: &mut Socket) -> io::Result<u16> {
    let (mut request, mut content) = (Vec::new(), vec![GET_FAMILY, 1, 0, 0]);
    push_attribute(&mut content, FAMILY_NAME, b"TASKSTATS\0");
    push_message(&mut request, CONTROL_FAMILY, netlink::REQUEST, 0, &content);
    socket.send(&request)?;
    let unsupported = || io::Error::from(io::ErrorKind::Unsupported);
    let message = socket.receive()?.next().ok_or_else(unsupported)?;
    if message.kind == netlink::ERROR {
        let code = u32_at(message.payload, 0).unwrap_or(0) as i32;
        return Err(io::Error::from_raw_os_error(-code));
    }
    attributes(message.payload.get(4..).unwrap_or_default())
        .find(|(kind, _)| *kind == FAMILY_ID)
        .and_then(|(_, value)| u16_at(value, 0))
        .ok_or_else(unsupported)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn structure(version: u16, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        bytes[..2].copy_from_slice(&version.to_ne_bytes());
        for (offset, value) in [
            (16, 87u64),
            (24, 5000),
            (32, 1),
            (40, 70),
            (72, 9000),
            (272, 65),
            (280, 22),
            (320, 3),
        ] {
            bytes[offset..offset + 8].copy_from_slice(&value.to_ne_bytes());
        }
        bytes
    }

    #[test]
    fn the_fields_stand_where_they_are_documented() {
        let stats = Stats::parse(&structure(16, 560)).unwrap();
        assert_eq!((stats.scheduled, stats.run_wait_ns, stats.run_ns), (87, 5000, 9000));
        assert_eq!((stats.vcsw, stats.icsw), (65, 22));
        assert_eq!(
            (stats.io_wait_ns, stats.memory_wait_ns, stats.has_delays),
            (70, 3, true)
        );
    }

    #[test]
    fn an_old_structure_is_shorter_and_a_shifted_one_is_refused() {
        assert_eq!(Stats::parse(&structure(8, 328)).unwrap().memory_wait_ns, 3);
        assert_eq!(Stats::parse(&structure(15, 560)), None);
        assert_eq!(Stats::parse(&structure(7, 328)), None);
        assert_eq!(Stats::parse(&structure(16, 560)[..100]), None);
    }
}
