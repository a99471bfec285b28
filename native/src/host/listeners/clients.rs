//! The connections at a listening TCP socket whose other end is elsewhere: what the network does to them.
//!
//! The kernel's TCP measures each connection (struct tcp_info): the round trip, what was sent again, what is under way.
//! Connections over loopback have no way to go and are left out. They are asked for at the first two samples, then at
//! every fifth while there are any or new ones may have come, and many more seldom: the kernel walks its whole table of
//! connections, which grows with the memory of the host (with 24 GB it takes 3.5 ms, however few they are).

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

/// For so many connections one sample is skipped: asking takes about half a microsecond for each.
const FOR_EACH: usize = 1000;
/// Samples that are skipped at least, once there was an interval to tell of.
const SKIPPED: usize = 4;

/// One connection, counted since it was made.
#[derive(Debug, Clone, Copy)]
pub struct Connection {
    pub inode: u32,
    pub local: SocketAddr,
    pub peer: IpAddr,
    /// What was sent and not acknowledged yet.
    pub in_flight_bytes: u64,
    /// The smoothed round trip (RFC 6298).
    pub round_trip_us: u32,
    pub retransmits: u32,
    pub acked_bytes: u64,
    /// What was written and not sent yet.
    pub unsent_bytes: u32,
    /// The shortest round trip of the last minutes (net.ipv4.tcp_min_rtt_wlen).
    pub least_round_trip_us: u32,
    /// Segments with data that came, and that were sent.
    pub segments_in: u32,
    pub segments_out: u32,
}

/// The connections of one listening socket since the last time they were asked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Clients {
    pub connections: u32,
    /// Means over the segments that were sent; nothing where none was.
    pub round_trip_ms: Option<f64>,
    pub least_round_trip_ms: Option<f64>,
    pub segments: u64,
    pub retransmits: u64,
    pub acked_bytes: u64,
    pub in_flight_bytes: u64,
    pub unsent_bytes: u64,
    /// Connections that have something to send, and nothing under way: the other end takes nothing.
    pub refused: u32,
    /// How long the clients waited for requests and answers to travel: a round trip for each segment that came, of no
    /// connection more than the time that went by.
    pub travel_s: f64,
}

#[derive(Default)]
pub struct Ways {
    /// By inode, with the socket that each came in by.
    before: HashMap<u32, (SocketAddr, Connection)>,
    /// Connections that had come in by the last time they were asked for; nothing where some were not accepted then.
    opens: Option<u64>,
    skip: usize,
    seconds: f64,
}

impl Ways {
    /// Whether to ask this time, `seconds` after the last sample; `opens` counts the connections that came in since boot.
    pub fn is_due(&mut self, seconds: Option<f64>, opens: Option<u64>) -> bool {
        self.seconds += seconds.unwrap_or(0.0);
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        opens.is_none() || opens != self.opens || !self.before.is_empty()
    }

    /// What happened since the last time on the connections to each of these sockets, and in how many seconds; those
    /// that nobody from elsewhere is connected to are not told, nor are connections that were not there then.
    ///
    /// `opens` as before; nothing where some wait to be accepted, who are not among those found.
    pub fn take(
        &mut self,
        found: &[Connection],
        listening: &[SocketAddr],
        opens: Option<u64>,
    ) -> (f64, Vec<(SocketAddr, Clients)>) {
        self.opens = opens;
        let seconds = std::mem::take(&mut self.seconds);
        let least = if seconds > 0.0 { SKIPPED } else { 0 }; // no time has gone by at the first
        self.skip = least.max(found.len() / FOR_EACH);
        let far = found
            .iter()
            .filter(|one| !one.peer.is_loopback() && one.peer != one.local.ip());
        let now: HashMap<u32, (SocketAddr, Connection)> = far
            .filter_map(|one| Some((one.inode, (listener_of(one.local, listening)?, *one))))
            .collect();
        let before = std::mem::replace(&mut self.before, now);
        let mut told: Vec<(SocketAddr, Clients)> = Vec::new();
        for (inode, (at, one)) in &self.before {
            let Some((_, was)) = before.get(inode) else {
                continue;
            };
            match told.iter_mut().find(|(address, _)| address == at) {
                Some((_, clients)) => clients.add(was, one, seconds),
                None => {
                    let mut clients = Clients::default();
                    clients.add(was, one, seconds);
                    told.push((*at, clients));
                }
            }
        }
        for (_, clients) in &mut told {
            clients.finish();
        }
        (seconds, told)
    }
}

impl Clients {
    fn add(&mut self, was: &Connection, now: &Connection, seconds: f64) {
        let sent = u64::from(now.segments_out.wrapping_sub(was.segments_out));
        let came = now.segments_in.wrapping_sub(was.segments_in);
        let weighted = |sum: Option<f64>, value_us: u32| match sent {
            0 => sum,
            _ => Some(sum.unwrap_or(0.0) + f64::from(value_us) / 1e3 * sent as f64),
        };
        self.connections += 1;
        self.round_trip_ms = weighted(self.round_trip_ms, now.round_trip_us);
        self.least_round_trip_ms = weighted(self.least_round_trip_ms, now.least_round_trip_us);
        self.segments += sent;
        self.retransmits += u64::from(now.retransmits.wrapping_sub(was.retransmits));
        self.acked_bytes += now.acked_bytes.saturating_sub(was.acked_bytes);
        self.in_flight_bytes += now.in_flight_bytes;
        self.unsent_bytes += u64::from(now.unsent_bytes);
        self.refused += u32::from(now.unsent_bytes > 0 && now.in_flight_bytes == 0);
        self.travel_s += (f64::from(came) * f64::from(now.round_trip_us) / 1e6).min(seconds);
    }

    /// Makes means of the sums.
    fn finish(&mut self) {
        let segments = self.segments as f64;
        self.round_trip_ms = self.round_trip_ms.map(|sum| sum / segments);
        self.least_round_trip_ms = self.least_round_trip_ms.map(|sum| sum / segments);
    }
}

/// The socket that a connection came in by: the one at its own address, else one at any address.
fn listener_of(local: SocketAddr, listening: &[SocketAddr]) -> Option<SocketAddr> {
    let at_port = || listening.iter().filter(|address| address.port() == local.port());
    let own = at_port().find(|address| address.ip().to_canonical() == local.ip());
    own.or_else(|| at_port().find(|address| address.ip().is_unspecified()))
        .copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTENING: &str = "0.0.0.0:5432";

    fn connection(inode: u32, local: &str, segments: u32, round_trip_us: u32) -> Connection {
        Connection {
            inode,
            local: local.parse().unwrap(),
            peer: "10.0.0.9".parse().unwrap(),
            in_flight_bytes: 0,
            round_trip_us,
            retransmits: segments / 10,
            acked_bytes: u64::from(segments) * 1000,
            unsent_bytes: 7,
            least_round_trip_us: 1000,
            segments_in: segments,
            segments_out: segments,
        }
    }

    fn told(before: &[Connection], now: &[Connection]) -> Vec<(SocketAddr, Clients)> {
        let (mut ways, listening) = (Ways::default(), [LISTENING.parse().unwrap()]);
        assert!(ways.is_due(None, Some(1)));
        assert!(ways.take(before, &listening, Some(1)).1.is_empty());
        assert!(ways.is_due(Some(2.0), Some(2)));
        let (seconds, told) = ways.take(now, &listening, Some(2));
        assert_eq!(seconds, 2.0);
        told
    }

    #[test]
    fn means_are_of_the_segments_that_were_sent_since() {
        let before = [
            connection(1, "10.0.0.1:5432", 100, 1),
            connection(2, "10.0.0.1:5432", 100, 1),
        ];
        let now = [
            connection(1, "10.0.0.1:5432", 130, 20_000),
            connection(2, "10.0.0.1:5432", 110, 40_000),
            connection(3, "10.0.0.1:5432", 500, 90_000),
        ];
        let (_, clients) = told(&before, &now).remove(0);
        assert_eq!((clients.connections, clients.segments, clients.retransmits), (2, 40, 4));
        assert!((clients.round_trip_ms.unwrap() - 25.0).abs() < 1e-6);
        assert!((clients.travel_s - 1.0).abs() < 1e-9);
        assert_eq!(
            (clients.refused, clients.unsent_bytes, clients.acked_bytes),
            (2, 14, 40_000)
        );
    }

    #[test]
    fn who_sent_nothing_has_no_round_trip() {
        let still = [connection(1, "10.0.0.1:5432", 100, 1)];
        let (_, clients) = told(&still, &still).remove(0);
        assert_eq!((clients.connections, clients.round_trip_ms), (1, None));
    }

    #[test]
    fn loopback_and_connections_of_our_own_are_left_out() {
        let from = |peer: &str, inode| Connection {
            peer: peer.parse().unwrap(),
            ..connection(inode, "10.0.0.1:5432", 100, 1)
        };
        let those = [
            from("127.0.0.1", 1),
            from("10.0.0.1", 2),
            connection(3, "10.0.0.1:40000", 100, 1),
        ];
        assert_eq!(told(&those, &those), []);
    }

    /// Samples of twelve, a second apart, at which the kernel is asked, and the seconds that each tells of.
    fn asked(found: &[Connection], opens_at: impl Fn(u64) -> Option<u64>) -> Vec<(u64, f64)> {
        let (mut ways, listening) = (Ways::default(), [LISTENING.parse().unwrap()]);
        let mut asked = Vec::new();
        for sample in 0..12 {
            let opens = opens_at(sample);
            if ways.is_due((sample > 0).then_some(1.0), opens) {
                asked.push((sample, ways.take(found, &listening, opens).0));
            }
        }
        asked
    }

    #[test]
    fn after_the_first_interval_every_fifth_sample_is_asked() {
        let far = [connection(1, "10.0.0.1:5432", 100, 1)];
        assert_eq!(asked(&far, |_| Some(7)), [(0, 0.0), (1, 1.0), (6, 5.0), (11, 5.0)]);
        assert_eq!(asked(&[], |_| None), [(0, 0.0), (1, 1.0), (6, 5.0), (11, 5.0)]);
    }

    #[test]
    fn where_nobody_from_elsewhere_is_connected_only_new_connections_are_a_reason_to_ask() {
        let outgoing = [connection(1, "10.0.0.1:40000", 100, 1)];
        assert_eq!(asked(&outgoing, |_| Some(7)), [(0, 0.0)]);
        assert_eq!(asked(&[], |sample| Some(sample / 8)), [(0, 0.0), (8, 8.0)]);
    }

    #[test]
    fn who_was_not_accepted_yet_is_asked_for_again() {
        let mut ways = Ways::default();
        assert!(ways.is_due(None, Some(7)));
        ways.take(&[], &[], None);
        assert!(ways.is_due(Some(1.0), Some(7)));
        ways.take(&[], &[], Some(7));
        assert!((0..9).all(|_| !ways.is_due(Some(1.0), Some(7))));
    }

    #[test]
    fn many_are_asked_for_more_seldom() {
        let many: Vec<_> = (0..2500)
            .map(|inode| connection(inode, "10.0.0.1:5432", 1, 1))
            .collect();
        let mut ways = Ways::default();
        ways.take(&many, &[], None);
        let due: Vec<_> = (0..4).map(|_| ways.is_due(Some(1.0), None)).collect();
        assert_eq!(due, [false, false, true, true]);
    }
}
