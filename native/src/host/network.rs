//! The `network` table from /proc/net, and the accept queues of listening sockets as statistics.

use std::collections::HashMap;
use std::path::Path;

use arrow_schema::ArrowError;

use super::events::Events;
use super::files::Kept;
use super::interval::{Interval, tidy};
use super::listeners::{Clients, Listener, Listeners};
use super::statistics::{Figure, Statistics};
use super::text::{fields, lines, number};
use crate::batch::Batch;
use crate::sheet::{Layouts, Sheet, columns};

columns!(NetworkColumns {
    interface,
    rx_bytes_per_s,
    tx_bytes_per_s,
    errors_per_s,
    segments_out_per_s,
    retransmits_per_s,
    listen_drops_per_s,
    listen_overflows_per_s,
    accept_queue,
    established,
});

/// Counters of one interface: bytes in and out, errors and drops of both ways.
type Counters = [u64; 3];

/// Name and counters of a line of /proc/net/dev; nothing for its headings.
fn parse_interface(line: &[u8]) -> Option<(&[u8], Counters)> {
    let colon = line.iter().rposition(|&byte| byte == b':')?;
    let mut values = [0u64; 16];
    let mut rest = fields(&line[colon + 1..]);
    for value in &mut values {
        *value = number(rest.next()?)?;
    }
    let name = line[..colon].trim_ascii();
    Some((
        name,
        [values[0], values[8], values[2] + values[3] + values[10] + values[11]],
    ))
}

/// The value under a name in the pairs of lines of /proc/net/snmp and netstat.
fn named(text: &[u8], protocol: &[u8], name: &[u8]) -> Option<u64> {
    let mut pair = lines(text).filter(|line| line.starts_with(protocol));
    let (names, values) = (pair.next()?, pair.next()?);
    let position = fields(names).position(|field| field == name)?;
    number(fields(values).nth(position)?)
}

/// Counters of TCP on the host.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
struct Tcp {
    segments_out: Option<u64>,
    retransmits: Option<u64>,
    listen_drops: Option<u64>,
    listen_overflows: Option<u64>,
    established: Option<u64>,
    /// Connections that came in, at all listening sockets together.
    passive_opens: Option<u64>,
}

pub struct Network {
    interfaces: Kept,
    snmp: Kept,
    netstat: Kept,
    listeners: Listeners,
    before: HashMap<Vec<u8>, Counters>,
    tcp_before: Tcp,
    sheet: Sheet<NetworkColumns>,
}

impl Network {
    pub fn new(proc: &Path, host: &str, layouts: &Layouts) -> Result<Self, ArrowError> {
        Ok(Self {
            interfaces: Kept::new(proc.join("net/dev")),
            snmp: Kept::new(proc.join("net/snmp")),
            netstat: Kept::new(proc.join("net/netstat")),
            listeners: Listeners::new(proc),
            before: HashMap::new(),
            tcp_before: Tcp::default(),
            sheet: Sheet::new("network", host, layouts)?,
        })
    }

    pub fn sample(&mut self, interval: &Interval, events: &mut Events, statistics: &mut Statistics) {
        self.add_interfaces(interval, events);
        self.sheet.begin(interval.ts_us, interval.rounded_s());
        self.add_tcp(interval, events, statistics);
        self.add_listeners(interval, events, statistics);
        self.sheet.end();
    }

    /// CPU time of threads that the listening sockets take, nanoseconds so far.
    pub fn cpu_beside_ns(&self) -> i64 {
        self.listeners.cpu_beside_ns()
    }

    fn add_interfaces(&mut self, interval: &Interval, events: &mut Events) {
        let Self {
            interfaces,
            before,
            sheet,
            ..
        } = self;
        let text = match interfaces.read() {
            Ok(text) => text,
            Err(error) => return events.not_measured("/proc/net/dev", &error.to_string(), "mount /proc"),
        };
        // An interface that never moved a byte says nothing.
        for (name, now) in lines(text)
            .filter_map(parse_interface)
            .filter(|(_, now)| *now != [0; 3])
        {
            let Some(known) = before.get_mut(name) else {
                before.insert(name.to_vec(), now);
                continue;
            };
            let before = std::mem::replace(known, now);
            let interface = String::from_utf8_lossy(name);
            if now.iter().zip(before).any(|(now, before)| *now < before) {
                events.restart(&interface);
                continue;
            }
            let rate = |position: usize| interval.increase(Some(before[position]), Some(now[position]));
            let columns = sheet.columns;
            sheet.begin(interval.ts_us, interval.rounded_s());
            sheet.str(columns.interface, interface.as_ref());
            sheet.f64(columns.rx_bytes_per_s, rate(0));
            sheet.f64(columns.tx_bytes_per_s, rate(1));
            sheet.f64(columns.errors_per_s, rate(2));
            sheet.end();
        }
    }

    fn add_tcp(&mut self, interval: &Interval, events: &mut Events, statistics: &mut Statistics) {
        let now = self.read_tcp(events);
        let before = std::mem::replace(&mut self.tcp_before, now);
        let columns = self.sheet.columns;
        for (column, before, now) in [
            (columns.segments_out_per_s, before.segments_out, now.segments_out),
            (columns.retransmits_per_s, before.retransmits, now.retransmits),
            (columns.listen_drops_per_s, before.listen_drops, now.listen_drops),
            (
                columns.listen_overflows_per_s,
                before.listen_overflows,
                now.listen_overflows,
            ),
        ] {
            self.sheet.f64(column, interval.increase(before, now));
        }
        self.sheet.count(columns.established, now.established);
        if let Some(opens) = interval.increase(before.passive_opens, now.passive_opens) {
            let figure = Figure {
                component: "kernel",
                entity: None,
                name: "tcp.passive_opens_per_s",
                unit: "per_s",
            };
            statistics.rate(interval, figure, opens);
        }
    }

    fn read_tcp(&mut self, events: &mut Events) -> Tcp {
        let mut tcp = Tcp::default();
        match self.snmp.read() {
            Ok(text) => {
                tcp.segments_out = named(text, b"Tcp:", b"OutSegs");
                tcp.retransmits = named(text, b"Tcp:", b"RetransSegs");
                tcp.established = named(text, b"Tcp:", b"CurrEstab");
                tcp.passive_opens = named(text, b"Tcp:", b"PassiveOpens");
            }
            Err(error) => events.not_measured("/proc/net/snmp", &error.to_string(), "mount /proc"),
        }
        match self.netstat.read() {
            Ok(text) => {
                tcp.listen_drops = named(text, b"TcpExt:", b"ListenDrops");
                tcp.listen_overflows = named(text, b"TcpExt:", b"ListenOverflows");
            }
            Err(error) => events.not_measured("/proc/net/netstat", &error.to_string(), "mount /proc"),
        }
        tcp
    }

    fn add_listeners(&mut self, interval: &Interval, events: &mut Events, statistics: &mut Statistics) {
        let (tcp, unix) = match self.listeners.sample() {
            Ok(found) => found,
            Err(error) => {
                return events.not_measured(
                    "listening sockets",
                    &error.to_string(),
                    "allow netlink's sock_diag or mount /proc",
                );
            }
        };
        let waiting: u32 = tcp.iter().map(|listener| listener.accept_queue).sum();
        self.sheet.f64(self.sheet.columns.accept_queue, f64::from(waiting));
        for listener in tcp.iter().chain(&unix) {
            add_listener(listener, interval, statistics);
        }
        let (seconds, told) = self
            .listeners
            .clients(&tcp, interval.seconds, self.tcp_before.passive_opens);
        let since = Interval {
            ts_us: interval.ts_us,
            seconds: Some(seconds).filter(|seconds| *seconds > 0.0),
        };
        for (listener, clients) in &told {
            add_clients(listener, clients, &since, statistics);
        }
    }

    pub fn finish(&mut self, batches: &mut Vec<Batch>) -> Result<(), ArrowError> {
        self.sheet.finish(batches)
    }
}

fn add_listener(listener: &Listener, interval: &Interval, statistics: &mut Statistics) {
    let figures = [
        (
            "listen.accept_queue",
            "connections",
            Some(f64::from(listener.accept_queue)),
        ),
        ("listen.backlog", "connections", listener.backlog.map(f64::from)),
        ("listen.accept_delay", "s", listener.accept_delay_s),
        ("listen.pid", "pid", listener.pid.map(f64::from)),
    ];
    for (name, unit, value) in figures {
        if let Some(value) = value {
            let figure = Figure {
                component: "kernel",
                entity: Some(&listener.name),
                name,
                unit,
            };
            statistics.gauge(interval, figure, value);
        }
    }
    if let Some(rate) = listener
        .drops
        .filter(|drops| *drops > 0)
        .and_then(|drops| interval.rate(f64::from(drops)))
    {
        let figure = Figure {
            component: "kernel",
            entity: Some(&listener.name),
            name: "listen.drops_per_s",
            unit: "per_s",
        };
        statistics.rate(interval, figure, rate);
    }
}

/// What the network does to who is connected to a listening socket from elsewhere.
fn add_clients(listener: &str, clients: &Clients, interval: &Interval, statistics: &mut Statistics) {
    let about = |name, unit| Figure {
        component: "kernel",
        entity: Some(listener),
        name,
        unit,
    };
    for (name, unit, value) in [
        (
            "tcp_clients.connections",
            "connections",
            Some(f64::from(clients.connections)),
        ),
        ("tcp_clients.refused", "connections", Some(f64::from(clients.refused))),
        ("tcp_clients.round_trip_ms", "ms", clients.round_trip_ms),
        ("tcp_clients.least_round_trip_ms", "ms", clients.least_round_trip_ms),
        (
            "tcp_clients.in_flight_bytes",
            "bytes",
            Some(clients.in_flight_bytes as f64),
        ),
        ("tcp_clients.unsent_bytes", "bytes", Some(clients.unsent_bytes as f64)),
    ] {
        if let Some(value) = value {
            statistics.gauge(interval, about(name, unit), tidy(value));
        }
    }
    for (name, unit, count) in [
        ("tcp_clients.segments_per_s", "per_s", clients.segments as f64),
        ("tcp_clients.retransmits_per_s", "per_s", clients.retransmits as f64),
        (
            "tcp_clients.sent_bytes_per_s",
            "bytes_per_s",
            clients.acked_bytes as f64,
        ),
        ("tcp_clients.travel_s_per_s", "s_per_s", clients.travel_s),
    ] {
        if let Some(rate) = interval.precise_rate(count) {
            statistics.rate(interval, about(name, unit), rate);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_with_colons_and_headings() {
        let line = b"  eth0:1: 1000 10 1 2 0 0 0 0 500 5 4 8 0 0 0 0";
        assert_eq!(parse_interface(line), Some((&b"eth0:1"[..], [1000, 500, 15])));
        assert_eq!(
            parse_interface(b"eth1:77 10 0 0 0 0 0 0 5 5 0 0 0 0 0 0").unwrap().1[0],
            77
        );
        assert_eq!(parse_interface(b" face |bytes    packets errs"), None);
        assert_eq!(parse_interface(b"eth0: 1 2 3"), None);
    }

    #[test]
    fn counters_are_found_by_name_and_absent_ones_are_unknown() {
        let text =
            b"Ip: Forwarding\nIp: 2\nTcp: RtoMin CurrEstab OutSegs\nTcp: 200 7 14800\nTcpExt: ListenDrops\nTcpExt: 3\n";
        assert_eq!(named(text, b"Tcp:", b"OutSegs"), Some(14800));
        assert_eq!(named(text, b"Tcp:", b"RetransSegs"), None);
        assert_eq!(named(text, b"TcpExt:", b"ListenDrops"), Some(3));
        assert_eq!(named(b"Tcp: RtoMin", b"Tcp:", b"RtoMin"), None);
    }
}
