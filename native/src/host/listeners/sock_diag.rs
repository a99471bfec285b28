//! What the kernel tells of sockets by netlink's sock_diag (linux/inet_diag.h, linux/unix_diag.h).

use std::io;
use std::net::{IpAddr, SocketAddr};

use super::clients::Connection;
use super::{LISTEN, TcpListener, address_of};
use crate::host::netlink::{self, Message, Socket, attributes, push_attribute, push_message, u32_at, u64_at};

const SOCK_DIAG: i32 = 4;
const BY_FAMILY: u16 = 20;
/// TCPDIAG_GETSOCK, the older request: it alone asks for both families at once, and each answer walks the kernel's whole table.
const TCP_OF_ALL: u16 = 18;
const ESTABLISHED: u8 = 1;
const CLOSE_WAIT: u8 = 8;
/// What struct inet_diag_msg takes before its attributes.
const INET_MESSAGE: usize = 72;
const INET_BYTECODE: u16 = 1;
const INET_INFO: u16 = 2;
/// Counts of a socket's memory, the last of which is not memory: SK_MEMINFO_DROPS, requests dropped there (Linux 4.7).
const INET_MEMORY: u16 = 7;
const DROPS: usize = 8 * 4;
/// Where struct tcp_info has tcpi_last_data_sent.
const LAST_DATA_SENT: usize = 44;
const PORT_AT_LEAST: u8 = 2;
const PORT_AT_MOST: u8 = 3;
const UNIX_MESSAGE: usize = 16;
const UNIX_NAME: u16 = 0;
const UNIX_WAITING: u16 = 3;
const UNIX_QUEUE: u16 = 4;
/// UDIAG_SHOW_NAME, UDIAG_SHOW_ICONS, UDIAG_SHOW_RQLEN.
const UNIX_SHOW: u32 = 0x1 | 0x8 | 0x10;

pub struct SockDiag(Socket);

/// A listening UNIX socket.
#[derive(Debug, Clone)]
pub struct UnixSocket {
    pub inode: u32,
    pub name: String,
    pub accept_queue: u32,
    pub backlog: u32,
    /// Inodes of the clients' sockets that wait.
    pub waiting: Vec<u32>,
}

impl SockDiag {
    pub fn open() -> io::Result<Self> {
        Socket::open(SOCK_DIAG).map(Self)
    }

    /// Every listening TCP socket of this network namespace.
    pub fn tcp_listeners(&mut self) -> io::Result<Vec<TcpListener>> {
        let mut found = Vec::new();
        let request = tcp_request(1 << LISTEN, 1 << (INET_MEMORY - 1));
        self.dump(TCP_OF_ALL, &request, |message| {
            found.extend(parse_listener(message.payload));
        })?;
        Ok(found)
    }

    /// Seconds since each connection that nobody has accepted was established, at this address or at any but `others`.
    ///
    /// Until it is accepted a connection has no inode and has sent no data, so that the time since it last did
    /// (tcpi_last_data_sent) runs from its beginning.
    pub fn ages_s(&mut self, address: SocketAddr, others: &[IpAddr]) -> io::Result<Vec<f64>> {
        let family = if address.is_ipv4() {
            libc::AF_INET
        } else {
            libc::AF_INET6
        };
        let mut request = inet_request(family, 1 << ESTABLISHED | 1 << CLOSE_WAIT, 1 << (INET_INFO - 1));
        push_attribute(&mut request, INET_BYTECODE, &port_is(address.port()));
        let mut ages_s = Vec::new();
        self.dump(BY_FAMILY, &request, |message| {
            if let Some((at, age_s)) = parse_waiting(message.payload)
                && (at == address.ip() || address.ip().is_unspecified() && !others.contains(&at))
            {
                ages_s.push(age_s);
            }
        })?;
        Ok(ages_s)
    }

    /// Every TCP connection of this network namespace that somebody has accepted or made, what its TCP tells included.
    pub fn connections(&mut self) -> io::Result<Vec<Connection>> {
        let mut found = Vec::new();
        let request = tcp_request(1 << ESTABLISHED | 1 << CLOSE_WAIT, 1 << (INET_INFO - 1));
        self.dump(TCP_OF_ALL, &request, |message| {
            found.extend(parse_connection(message.payload));
        })?;
        Ok(found)
    }

    /// Every listening UNIX socket that has a name.
    pub fn unix_listeners(&mut self) -> io::Result<Vec<UnixSocket>> {
        let mut request = vec![libc::AF_UNIX as u8, 0, 0, 0];
        for value in [1u32 << LISTEN, 0, UNIX_SHOW, u32::MAX, u32::MAX] {
            request.extend_from_slice(&value.to_ne_bytes());
        }
        let mut found = Vec::new();
        self.dump(BY_FAMILY, &request, |message| found.extend(parse_unix(message.payload)))?;
        Ok(found)
    }

    fn dump(&mut self, kind: u16, request: &[u8], mut take: impl FnMut(Message)) -> io::Result<()> {
        let mut messages = Vec::new();
        push_message(&mut messages, kind, netlink::REQUEST | netlink::DUMP, 1, request);
        self.0.send(&messages)?;
        loop {
            let mut any = false;
            for message in self.0.receive()? {
                match message.kind {
                    netlink::DONE => return Ok(()),
                    netlink::ERROR => {
                        let code = u32_at(message.payload, 0).unwrap_or(0) as i32;
                        return Err(io::Error::from_raw_os_error(-code));
                    }
                    _ => take(message),
                }
                any = true;
            }
            if !any {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
    }
}

/// struct inet_diag_req of TCP sockets in these states, of all families.
fn tcp_request(states: u32, extensions: u8) -> Vec<u8> {
    let mut request = vec![0; 60];
    request[3] = extensions;
    request[52..56].copy_from_slice(&states.to_ne_bytes());
    request
}

/// struct inet_diag_req_v2 of TCP sockets in these states.
fn inet_request(family: i32, states: u32, extensions: u8) -> Vec<u8> {
    let mut request = vec![0; 56];
    request[..3].copy_from_slice(&[family as u8, libc::IPPROTO_TCP as u8, extensions]);
    request[4..8].copy_from_slice(&states.to_ne_bytes());
    request
}

/// The kernel's own filter for sockets whose local port is this one: two comparisons, each with its operand.
fn port_is(port: u16) -> Vec<u8> {
    let mut code = Vec::new();
    for (compare, beyond_end) in [(PORT_AT_LEAST, 20u16), (PORT_AT_MOST, 12)] {
        code.extend_from_slice(&[compare, 8]);
        code.extend_from_slice(&beyond_end.to_ne_bytes());
        code.extend_from_slice(&[0, 0]);
        code.extend_from_slice(&port.to_ne_bytes());
    }
    code
}

/// Reads struct inet_diag_msg of a listening socket.
fn parse_listener(payload: &[u8]) -> Option<TcpListener> {
    let port = u16::from_be_bytes(payload.get(4..6)?.try_into().ok()?);
    Some(TcpListener {
        address: SocketAddr::new(address_of(*payload.first()?, payload.get(8..24)?)?, port),
        accept_queue: u32_at(payload, 56)?,
        backlog: Some(u32_at(payload, 60)?),
        inode: u32_at(payload, 68),
        drops: attributes(payload.get(INET_MESSAGE..)?)
            .find(|(kind, _)| *kind == INET_MEMORY)
            .and_then(|(_, memory)| u32_at(memory, DROPS)),
    })
}

/// Local address and age in seconds of a connection that nobody has accepted yet.
fn parse_waiting(payload: &[u8]) -> Option<(IpAddr, f64)> {
    if u32_at(payload, 68)? != 0 {
        return None;
    }
    let (_, info) = attributes(payload.get(INET_MESSAGE..)?).find(|(kind, _)| *kind == INET_INFO)?;
    let address = address_of(*payload.first()?, payload.get(8..24)?)?;
    Some((address, f64::from(u32_at(info, LAST_DATA_SENT)?) / 1e3))
}

/// What struct tcp_info (linux/tcp.h) tells of a connection; nothing where a kernel before 4.6 tells less.
fn parse_connection(payload: &[u8]) -> Option<Connection> {
    let inode = u32_at(payload, 68).filter(|inode| *inode != 0)?;
    let port = u16::from_be_bytes(payload.get(4..6)?.try_into().ok()?);
    let address = address_of(*payload.first()?, payload.get(8..24)?)?;
    let peer = address_of(*payload.first()?, payload.get(24..40)?)?;
    let (_, info) = attributes(payload.get(INET_MESSAGE..)?).find(|(kind, _)| *kind == INET_INFO)?;
    let word = |at| u32_at(info, at);
    Some(Connection {
        inode,
        local: SocketAddr::new(address.to_canonical(), port),
        peer: peer.to_canonical(),
        in_flight_bytes: u64::from(word(24)?) * u64::from(word(16)?), // tcpi_unacked, tcpi_snd_mss
        round_trip_us: word(68)?,
        retransmits: word(100)?,
        acked_bytes: u64_at(info, 120)?,
        unsent_bytes: word(144)?,
        least_round_trip_us: word(148)?,
        segments_in: word(152)?,
        segments_out: word(156)?,
    })
}

/// Reads struct unix_diag_msg of a listening socket; nothing for one without a name.
fn parse_unix(payload: &[u8]) -> Option<UnixSocket> {
    let mut found = UnixSocket {
        inode: u32_at(payload, 4)?,
        name: String::new(),
        accept_queue: 0,
        backlog: 0,
        waiting: Vec::new(),
    };
    for (kind, value) in attributes(payload.get(UNIX_MESSAGE..)?) {
        match kind {
            UNIX_NAME => found.name = unix_name(value),
            UNIX_QUEUE => (found.accept_queue, found.backlog) = (u32_at(value, 0)?, u32_at(value, 4)?),
            UNIX_WAITING => {
                let inodes = (0..value.len()).step_by(4).filter_map(|at| u32_at(value, at));
                found.waiting = inodes.filter(|inode| *inode != 0).collect(); // 0: the client has closed it
            }
            _ => {}
        }
    }
    (!found.name.is_empty()).then_some(found)
}

/// A path, or an abstract name with @ for the zero byte before it.
fn unix_name(bytes: &[u8]) -> String {
    let name = match bytes.strip_prefix(b"\0") {
        Some(rest) => [b"@", rest].concat(),
        None => bytes.to_vec(),
    };
    String::from_utf8_lossy(name.strip_suffix(b"\0").unwrap_or(&name)).into_owned()
}
