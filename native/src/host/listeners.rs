//! Listening TCP sockets and their accept queues, by sock_diag, or from /proc/net/tcp where it is refused.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use super::netlink::{self, Socket, push_message, u32_at};
use super::text::lines;

const SOCK_DIAG: i32 = 4;
const BY_FAMILY: u16 = 20;
const LISTEN: u8 = 10;

/// One listening socket.
#[derive(Debug, Clone, PartialEq)]
pub struct Listener {
    pub address: SocketAddr,
    /// Connections established by the kernel that the server has not accepted yet.
    pub accept_queue: u32,
    /// The most that may wait; unknown from /proc/net/tcp.
    pub backlog: Option<u32>,
}

pub struct Listeners {
    socket: Option<Socket>,
    net: PathBuf,
}

impl Listeners {
    pub fn new(proc: &Path) -> Self {
        Self {
            socket: Socket::open(SOCK_DIAG).ok(),
            net: proc.join("net"),
        }
    }

    pub fn sample(&mut self) -> io::Result<Vec<Listener>> {
        if let Some(socket) = &mut self.socket {
            match dump(socket) {
                Ok(listeners) => return Ok(listeners),
                Err(_) => self.socket = None, // refused once is refused for good: /proc answers from now on
            }
        }
        let mut listeners = parse_proc(&std::fs::read(self.net.join("tcp"))?);
        match std::fs::read(self.net.join("tcp6")) {
            Ok(text) => listeners.extend(parse_proc(&text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {} // a kernel without IPv6
            Err(error) => return Err(error),
        }
        Ok(listeners)
    }
}

fn dump(socket: &mut Socket) -> io::Result<Vec<Listener>> {
    let mut listeners = Vec::new();
    for family in [libc::AF_INET, libc::AF_INET6] {
        let mut content = [0; 56];
        content[0] = family as u8;
        content[1] = libc::IPPROTO_TCP as u8;
        content[4..8].copy_from_slice(&(1u32 << LISTEN).to_ne_bytes());
        let mut request = Vec::new();
        push_message(&mut request, BY_FAMILY, netlink::REQUEST | netlink::DUMP, 1, &content);
        socket.send(&request)?;
        receive_dump(socket, &mut listeners)?;
    }
    Ok(listeners)
}

fn receive_dump(socket: &mut Socket, listeners: &mut Vec<Listener>) -> io::Result<()> {
    loop {
        let mut messages = 0;
        for message in socket.receive()? {
            match message.kind {
                netlink::DONE => return Ok(()),
                netlink::ERROR => {
                    let code = u32_at(message.payload, 0).unwrap_or(0) as i32;
                    return Err(io::Error::from_raw_os_error(-code));
                }
                _ => listeners.extend(parse_message(message.payload)),
            }
            messages += 1;
        }
        if messages == 0 {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
}

/// Reads struct inet_diag_msg.
fn parse_message(payload: &[u8]) -> Option<Listener> {
    let port = u16::from_be_bytes(payload.get(4..6)?.try_into().ok()?);
    let source: [u8; 16] = payload.get(8..24)?.try_into().ok()?;
    let address = if i32::from(*payload.first()?) == libc::AF_INET {
        IpAddr::V4(Ipv4Addr::new(source[0], source[1], source[2], source[3]))
    } else {
        IpAddr::V6(Ipv6Addr::from(source))
    };
    Some(Listener {
        address: SocketAddr::new(address, port),
        accept_queue: u32_at(payload, 56)?,
        backlog: Some(u32_at(payload, 60)?),
    })
}

/// Listening sockets of /proc/net/tcp or tcp6.
fn parse_proc(text: &[u8]) -> Vec<Listener> {
    lines(text).skip(1).filter_map(parse_proc_line).collect()
}

fn parse_proc_line(line: &[u8]) -> Option<Listener> {
    let line = std::str::from_utf8(line).ok()?;
    let mut rest = line.split_ascii_whitespace().skip(1);
    let (address, port) = rest.next()?.split_once(':')?;
    if u8::from_str_radix(rest.nth(1)?, 16) != Ok(LISTEN) {
        return None;
    }
    let (_, waiting) = rest.next()?.split_once(':')?;
    Some(Listener {
        address: SocketAddr::new(parse_address(address)?, u16::from_str_radix(port, 16).ok()?),
        accept_queue: u32::from_str_radix(waiting, 16).ok()?,
        backlog: None,
    })
}

/// An address as the kernel prints it: words of four bytes in the machine's own order.
fn parse_address(hex: &str) -> Option<IpAddr> {
    let mut bytes = Vec::with_capacity(16);
    for at in (0..hex.len()).step_by(8) {
        let word = u32::from_str_radix(hex.get(at..at + 8)?, 16).ok()?;
        bytes.extend_from_slice(&word.to_ne_bytes());
    }
    match bytes.len() {
        4 => Some(IpAddr::from(<[u8; 4]>::try_from(bytes).ok()?)),
        16 => Some(IpAddr::from(<[u8; 16]>::try_from(bytes).ok()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    const TCP: &[u8] = b"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
        0: 0100007F:1538 00000000:0000 0A 00000000:00000007 00:00000000 00000000   102        0 20180 1 0 100 0 0 10 0\n\
        1: 0100007F:1538 0100007F:9C40 01 00000000:00000000 00:00000000 00000000   102        0 20181 1 0 20 4 30 10 -1\n\
        2: 00000000000000000000000001000000:1539 00000000000000000000000000000000:0000 0A 00000000:00000001 00:00000000\n";

    #[test]
    fn only_listeners_of_proc_count() {
        let found = parse_proc(TCP);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].address.to_string(), "127.0.0.1:5432");
        assert_eq!((found[0].accept_queue, found[0].backlog), (7, None));
        assert_eq!(found[1].address.to_string(), "[::1]:5433");
    }

    #[test]
    fn a_connection_nobody_accepts_stands_in_the_queue() {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = server.local_addr().unwrap();
        let _client = std::net::TcpStream::connect(address).unwrap();
        let found = Listeners::new(Path::new("/proc")).sample().unwrap();
        let listener = found.iter().find(|listener| listener.address == address).unwrap();
        assert_eq!(listener.accept_queue, 1);
    }
}
