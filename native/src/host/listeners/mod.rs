//! Listening sockets, TCP and UNIX: how many connections wait to be accepted, and how long.
//!
//! The kernel counts no accepts per socket, so the delay is seen on those who wait. A TCP connection that waits knows its
//! age (`sock_diag`), and at a random moment the oldest of n that are served in turn has waited n - 1/2 of n rounds. A UNIX
//! connection does not, so the queues are looked at often while somebody stands in one (`unix.rs`).

mod clients;
mod owner;
mod sock_diag;
mod unix;

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

pub use self::clients::Clients;
use self::clients::Ways;
use self::owner::Owners;
use self::sock_diag::SockDiag;
use self::unix::UnixQueues;
use super::text::lines;

const LISTEN: u8 = 10;

/// One listening socket.
#[derive(Debug, Clone, PartialEq)]
pub struct Listener {
    /// address:port, or a path; an abstract name has @ before it, as ss prints it.
    pub name: String,
    /// Connections established by the kernel that the server has not accepted yet.
    pub accept_queue: u32,
    /// The most that may wait; unknown from /proc/net/tcp.
    pub backlog: Option<u32>,
    /// How long a connection waits until it is accepted: an estimate. Nothing where nobody waits, or where that is not told.
    pub accept_delay_s: Option<f64>,
    /// Requests dropped since the last sample; nothing in the first, of UNIX sockets, and where the kernel does not tell.
    pub drops: Option<u32>,
    /// The process that accepts; looked for where somebody waits long.
    pub pid: Option<u32>,
}

/// A listening TCP socket as the kernel tells it.
#[derive(Debug, Clone, PartialEq)]
struct TcpListener {
    address: SocketAddr,
    accept_queue: u32,
    backlog: Option<u32>,
    inode: Option<u32>,
    /// Requests dropped since it listens.
    drops: Option<u32>,
}

pub struct Listeners {
    diag: Option<SockDiag>,
    /// Requests dropped so far by the inode of the socket.
    drops: HashMap<u32, u32>,
    ways: Ways,
    unix: UnixQueues,
    owners: Owners,
    net: PathBuf,
}

impl Listeners {
    pub fn new(proc: &Path) -> Self {
        Self {
            diag: SockDiag::open().ok(),
            drops: HashMap::new(),
            ways: Ways::default(),
            unix: UnixQueues::default(),
            owners: Owners::new(proc),
            net: proc.join("net"),
        }
    }

    /// CPU time of the thread that looks at the queues of UNIX sockets, nanoseconds so far.
    pub fn cpu_beside_ns(&self) -> i64 {
        self.unix.cpu_ns()
    }

    /// What the network does to the connections of these listening sockets, and in how many seconds; `since_s` is how
    /// long the last sample is ago, `opens` how many connections came in since boot. Nothing where netlink does not tell, or it
    /// is not time yet.
    pub fn clients(
        &mut self,
        tcp: &[Listener],
        since_s: Option<f64>,
        opens: Option<u64>,
    ) -> (f64, Vec<(String, Clients)>) {
        let Some(diag) = self.diag.as_mut().filter(|_| self.ways.is_due(since_s, opens)) else {
            return (0.0, Vec::new());
        };
        let Ok(found) = diag.connections() else {
            return (0.0, Vec::new());
        };
        let listening: Vec<SocketAddr> = tcp.iter().filter_map(|one| one.name.parse().ok()).collect();
        let is_accepted = tcp.iter().all(|one| one.accept_queue == 0);
        let (seconds, told) = self.ways.take(&found, &listening, opens.filter(|_| is_accepted));
        let named = told
            .into_iter()
            .map(|(address, clients)| (address.to_string(), clients));
        (seconds, named.collect())
    }

    /// Those of TCP, and those of UNIX in which somebody waits or has waited before.
    pub fn sample(&mut self) -> io::Result<(Vec<Listener>, Vec<Listener>)> {
        if let Some(diag) = &mut self.diag {
            match diag.tcp_listeners() {
                Ok(found) => {
                    let mut tcp: Vec<_> = found
                        .iter()
                        .map(|one| asked(diag, &mut self.owners, one, &found))
                        .collect();
                    let counted = found.iter().filter_map(|one| Some((one.inode?, one.drops?)));
                    let before = std::mem::replace(&mut self.drops, counted.collect());
                    for (told, one) in tcp.iter_mut().zip(&found) {
                        let known = one.inode.and_then(|inode| before.get(&inode));
                        told.drops = known.and_then(|known| Some(one.drops?.wrapping_sub(*known)));
                    }
                    let unix = self.unix.sample(diag, &mut self.owners);
                    return Ok((tcp, unix));
                }
                Err(_) => self.diag = None, // refused once is refused for good: /proc answers from now on
            }
        }
        let mut found = parse_proc(&std::fs::read(self.net.join("tcp"))?);
        match std::fs::read(self.net.join("tcp6")) {
            Ok(text) => found.extend(parse_proc(&text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {} // a kernel without IPv6
            Err(error) => return Err(error),
        }
        let untold = |one: &TcpListener| Listener {
            name: one.address.to_string(),
            accept_queue: one.accept_queue,
            backlog: one.backlog,
            accept_delay_s: None,
            drops: None,
            pid: None,
        };
        Ok((found.iter().map(untold).collect(), Vec::new()))
    }
}

/// A socket with the delay of those who wait there, who are asked for only where there are any.
fn asked(diag: &mut SockDiag, owners: &mut Owners, one: &TcpListener, all: &[TcpListener]) -> Listener {
    let ages_s = match one.accept_queue {
        0 => Vec::new(),
        _ => diag
            .ages_s(one.address, &addresses(all, one.address))
            .unwrap_or_default(),
    };
    let accept_delay_s = delay_of(&ages_s);
    Listener {
        name: one.address.to_string(),
        accept_queue: one.accept_queue,
        backlog: one.backlog,
        accept_delay_s,
        drops: None,
        pid: owners.of_slow(one.inode, accept_delay_s),
    }
}

/// Addresses that others listen on at the same port: what comes there is theirs.
fn addresses(all: &[TcpListener], own: SocketAddr) -> Vec<IpAddr> {
    let others = all.iter().map(|other| other.address);
    others
        .filter(|other| other.port() == own.port() && other.ip() != own.ip())
        .map(|other| other.ip())
        .collect()
}

/// The delay by the ages of those who wait: the oldest of n has seen n - 1/2 of the n rounds that it waits, on average.
fn delay_of(ages_s: &[f64]) -> Option<f64> {
    let oldest_s = ages_s.iter().copied().reduce(f64::max)?;
    let waiting = ages_s.len() as f64;
    Some(oldest_s * waiting / (waiting - 0.5))
}

/// Listening sockets of /proc/net/tcp or tcp6.
fn parse_proc(text: &[u8]) -> Vec<TcpListener> {
    lines(text).skip(1).filter_map(parse_proc_line).collect()
}

fn parse_proc_line(line: &[u8]) -> Option<TcpListener> {
    let line = std::str::from_utf8(line).ok()?;
    let mut rest = line.split_ascii_whitespace().skip(1);
    let (address, port) = rest.next()?.split_once(':')?;
    if u8::from_str_radix(rest.nth(1)?, 16) != Ok(LISTEN) {
        return None;
    }
    let (_, waiting) = rest.next()?.split_once(':')?;
    Some(TcpListener {
        address: SocketAddr::new(parse_address(address)?, u16::from_str_radix(port, 16).ok()?),
        accept_queue: u32::from_str_radix(waiting, 16).ok()?,
        backlog: None,
        inode: None,
        drops: None,
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

/// An address of struct inet_diag_sockid.
fn address_of(family: u8, bytes: &[u8]) -> Option<IpAddr> {
    let bytes: [u8; 16] = bytes.try_into().ok()?;
    Some(if i32::from(family) == libc::AF_INET {
        IpAddr::V4(Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3]))
    } else {
        IpAddr::V6(Ipv6Addr::from(bytes))
    })
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener as Server, TcpStream};
    use std::os::fd::AsRawFd;
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::time::Duration;

    use super::*;

    const TCP: &[u8] = b"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
        0: 0100007F:1538 00000000:0000 0A 00000000:00000007 00:00000000 00000000   102        0 20180 1 0 100 0 0 10 0\n\
        1: 0100007F:1538 0100007F:9C40 01 00000000:00000000 00:00000000 00000000   102        0 20181 1 0 20 4 30 10 -1\n\
        2: 00000000000000000000000001000000:1539 00000000000000000000000000000000:0000 0A 00000000:00000001 00:00000000\n";

    fn named(listeners: &mut Listeners, name: &str) -> Listener {
        let (tcp, unix) = listeners.sample().unwrap();
        let found = tcp.into_iter().chain(unix).find(|listener| listener.name == name);
        found.unwrap()
    }

    #[test]
    fn only_listeners_of_proc_count() {
        let found = parse_proc(TCP);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].address.to_string(), "127.0.0.1:5432");
        assert_eq!((found[0].accept_queue, found[0].backlog), (7, None));
        assert_eq!(found[1].address.to_string(), "[::1]:5433");
    }

    #[test]
    fn connections_that_nobody_accepts_wait_in_the_queue_and_grow_old() {
        let server = Server::bind("127.0.0.1:0").unwrap();
        let name = server.local_addr().unwrap().to_string();
        let _clients = [0, 1].map(|_| TcpStream::connect(&name).unwrap());
        std::thread::sleep(Duration::from_millis(300));
        let listener = named(&mut Listeners::new(Path::new("/proc")), &name);
        assert_eq!(listener.accept_queue, 2);
        let delay_s = listener.accept_delay_s.unwrap();
        assert!((0.39..3.0).contains(&delay_s), "{delay_s}");
        assert_eq!(listener.pid, Some(std::process::id()));
    }

    #[test]
    fn what_another_address_of_the_port_accepts_is_not_counted() {
        let own = Server::bind("127.0.0.1:0").unwrap();
        let port = own.local_addr().unwrap().port();
        let _other = Server::bind(("127.0.0.2", port)).unwrap();
        let _old = TcpStream::connect(("127.0.0.2", port)).unwrap();
        std::thread::sleep(Duration::from_millis(700));
        let _young = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let mut listeners = Listeners::new(Path::new("/proc"));
        let delays_s = ["127.0.0.1", "127.0.0.2"].map(|address| {
            let found = named(&mut listeners, &format!("{address}:{port}"));
            assert_eq!(found.accept_queue, 1);
            found.accept_delay_s.unwrap()
        });
        // Twice its age each, for one who waits alone: the older by 0.7 s, whenever a busy machine looks.
        assert!(delays_s[1] - delays_s[0] >= 1.39, "{delays_s:?}");
    }

    #[test]
    fn requests_that_a_full_queue_drops_are_counted_by_socket() {
        let (server, quiet) = (
            Server::bind("127.0.0.1:0").unwrap(),
            Server::bind("127.0.0.1:0").unwrap(),
        );
        // SAFETY: listen(2) on a socket that is there already sets how many may wait.
        assert_eq!(unsafe { libc::listen(server.as_raw_fd(), 0) }, 0);
        let address = server.local_addr().unwrap();
        let mut listeners = Listeners::new(Path::new("/proc"));
        assert_eq!(named(&mut listeners, &address.to_string()).drops, None);
        let _first = TcpStream::connect(address).unwrap();
        let second = TcpStream::connect_timeout(&address, Duration::from_millis(200));
        assert!(second.is_err()); // there is no place for it
        assert!(named(&mut listeners, &address.to_string()).drops >= Some(1));
        let name = quiet.local_addr().unwrap().to_string();
        assert_eq!(named(&mut listeners, &name).drops, Some(0));
    }

    #[test]
    fn others_at_the_port_are_those_of_other_addresses() {
        let at = |address: &str| TcpListener {
            address: address.parse().unwrap(),
            accept_queue: 0,
            backlog: None,
            inode: None,
            drops: None,
        };
        let all = ["0.0.0.0:80", "127.0.0.2:80", "127.0.0.2:81", "[::1]:80"].map(at);
        let others = addresses(&all, all[0].address);
        assert_eq!(others, ["127.0.0.2".parse::<IpAddr>().unwrap(), "::1".parse().unwrap()]);
        assert!(addresses(&all, all[2].address).is_empty());
    }

    #[test]
    fn a_unix_socket_is_told_from_its_first_wait_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let server = UnixListener::bind(&path).unwrap();
        let name = path.to_str().unwrap();
        let mut listeners = Listeners::new(Path::new("/proc"));
        assert!(!listeners.sample().unwrap().1.iter().any(|one| one.name == name));
        let _first = UnixStream::connect(&path).unwrap();
        assert_eq!(named(&mut listeners, name).accept_queue, 1); // since when is not known
        let _second = UnixStream::connect(&path).unwrap();
        std::thread::sleep(Duration::from_millis(400));
        server.accept().unwrap();
        server.accept().unwrap();
        std::thread::sleep(Duration::from_millis(200));
        let found = named(&mut listeners, name);
        assert_eq!(found.accept_queue, 0);
        assert!(listeners.cpu_beside_ns() > 0);
        let delay_s = found.accept_delay_s.unwrap();
        assert!((0.3..3.0).contains(&delay_s), "{delay_s}");
    }

    #[test]
    fn the_oldest_of_n_has_waited_n_less_a_half_of_its_rounds() {
        assert_eq!(delay_of(&[]), None);
        assert_eq!(delay_of(&[0.5]), Some(1.0));
        assert_eq!(delay_of(&[0.5, 1.5]), Some(2.0));
    }
}
