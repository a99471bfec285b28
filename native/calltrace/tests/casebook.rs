//! Reads the traces of the casebook, which is kept apart from this repository: skipped when it is not there.

use calltrace::detect::{Detected, detect};
use calltrace::event::{Event, Kind, Line};
use calltrace::layout::{Clock, Layout, Tool};
use calltrace::{quantize, totals, truss};

mod shared;

/// Bytes of a file of the casebook; null, with a message, when there is no casebook.
fn casebook(name: &str) -> Option<Vec<u8>> {
    shared::casebook(name).map(|file| std::fs::read(file).expect("a file of the casebook"))
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.trim_ascii_end().split(|byte| *byte == b'\n').collect()
}

/// The layout of a trace of truss, its events, and how many of its lines are details.
fn truss_events(text: &[u8]) -> (Layout, Vec<(&[u8], Event)>, usize) {
    let lines = lines(text);
    let layout = truss::sniff(&lines).expect("a trace of truss");
    let (mut events, mut details) = (Vec::new(), 0);
    for line in lines {
        match truss::parse(&layout, line, 0, line.len()) {
            Line::Event(event) => events.push((line, event)),
            Line::More(_) => details += 1,
            other => panic!("{other:?}: {}", String::from_utf8_lossy(line)),
        }
    }
    (layout, events, details)
}

#[test]
fn the_listener_before_is_read_whole() {
    let Some(text) = casebook("listener/before.truss") else {
        return;
    };
    let (layout, events, details) = truss_events(&text);
    assert!(layout.clock == Clock::Start && layout.has_pid && layout.has_delta && layout.has_cpu);
    assert_eq!((events.len(), details), (126, 16));
    let cladm: Vec<&Event> = events
        .iter()
        .filter(|(line, event)| event.name.of(line) == b"cladm")
        .map(|(_, event)| event)
        .collect();
    let seconds = |time: fn(&Event) -> i64| cladm.iter().map(|event| time(event) as f64 / 1e9).sum::<f64>();
    assert_eq!(cladm.len(), 75);
    assert!((seconds(|event| event.delta_ns) - 0.117).abs() < 0.001);
    assert!((seconds(|event| event.cpu_ns) - 0.114).abs() < 0.001);
}

#[test]
fn the_listeners_four_waits_are_read() {
    let Some(text) = casebook("listener/before.truss") else {
        return;
    };
    let (_, events, _) = truss_events(&text);
    let mut waits: Vec<(&[u8], i64)> = events
        .iter()
        .filter(|(line, event)| event.pid == 15697 && event.name.of(line) != b"pollsys")
        .map(|(line, event)| (event.name.of(line), event.delta_ns))
        .collect();
    waits.sort_by_key(|(_, delta_ns)| -delta_ns);
    let expected: [(&[u8], i64); 4] = [(b"read", 1298), (b"read", 666), (b"waitid", 542), (b"fork1", 300)];
    assert_eq!(waits[..4], expected.map(|(name, ticks)| (name, ticks * 100_000)));
}

#[test]
fn the_listeners_children_are_read() {
    let Some(text) = casebook("listener/before.truss") else {
        return;
    };
    let (_, events, _) = truss_events(&text);
    let of_kind = |kind| events.iter().filter(move |(_, event)| event.kind == kind);
    let children: Vec<(u32, i64)> = of_kind(Kind::Child)
        .map(|(_, event)| (event.pid, event.result))
        .collect();
    assert_eq!(children, [(8195, 15697), (8197, 8195)]);
    let ends: Vec<u32> = of_kind(Kind::NoReturn).map(|(_, event)| event.pid).collect();
    assert_eq!(ends, [8195]);
}

#[test]
fn every_other_trace_of_truss_is_read_whole() {
    let traces = [
        ("listener/after.truss", 3),
        ("listener/accept_wait.truss", 3),
        ("pagesize/solaris-64k.truss", 1),
        ("pagesize/solaris-512k.truss", 1),
        ("pagesize/solaris-4m.truss", 1),
    ];
    for (name, columns) in traces {
        let Some(text) = casebook(name) else { return };
        let (layout, events, _) = truss_events(&text);
        assert_eq!(layout.clock, Clock::Start, "{name}");
        assert_eq!(
            1 + usize::from(layout.has_delta) + usize::from(layout.has_cpu),
            columns,
            "{name}"
        );
        assert!(!events.is_empty() && layout.has_pid, "{name}");
    }
}

#[test]
fn the_summary_of_truss_is_read() {
    let Some(text) = casebook("cpu/truss-c.txt") else {
        return;
    };
    assert_eq!(detect(&text), Detected::Summary(Tool::Truss));
    let totals = totals::read(&text).expect("a summary");
    assert_eq!(
        (totals.user_s, totals.elapsed_s, totals.system_s),
        (Some(25.691), Some(126.21), Some(52.328))
    );
    let calls: u64 = totals.rows.iter().map(|row| row.calls).sum();
    assert!((1_280_000..=1_293_000).contains(&calls), "{calls}");
    let read = totals.rows.iter().find(|row| row.call == "read").expect("read");
    assert_eq!((read.seconds, read.calls, read.errors), (Some(40.74), 639_326, Some(0)));
}

#[test]
fn the_loop_times_of_both_listeners_are_read() {
    let Some(text) = casebook("listener/loop_times.dtrace") else {
        return;
    };
    assert_eq!(detect(&text), Detected::Histograms);
    let histograms = quantize::read(&text);
    let keys: Vec<&str> = histograms.iter().map(|histogram| histogram.key.as_str()).collect();
    assert_eq!(
        keys,
        ["tnslsnr 25351", "tnslsnr 15697", "tnslsnr 25351", "tnslsnr 15697"]
    );
    // Units of 10 ms: passes that did work took 20-30 ms in the fresh one, 90-130 ms in the one that leaks.
    let busiest = |at: usize| {
        let busy = histograms[at]
            .buckets
            .iter()
            .filter(|bucket| bucket.low.is_some_and(|low| low > 0.0));
        busy.max_by_key(|bucket| bucket.count)
            .map(|bucket| (bucket.low, bucket.high, bucket.count))
    };
    assert_eq!(busiest(0), Some((Some(3.0), Some(4.0), 87)));
    assert_eq!(busiest(1), Some((Some(11.0), Some(12.0), 90)));
    assert_eq!(
        histograms[1].buckets.iter().map(|bucket| bucket.count).sum::<u64>(),
        419
    );
}
