//! The files of one control group, both versions under the same names (Documentation/admin-guide/cgroup-v1 and cgroup-v2.rst).

use std::path::Path;

use super::Kind;
use crate::host::files;
use crate::host::pressure;
use crate::host::text::{fields, lines, number, value};

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    Gauge(f64),
    Counter(f64),
    /// Seconds counted since the start, of which the share of the interval is wanted.
    Share(f64),
}

/// One figure of a group, or of a group on a device (as MAJOR:MINOR).
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    pub name: &'static str,
    pub unit: &'static str,
    pub device: Option<String>,
    pub value: Value,
}

impl Reading {
    fn new(name: &'static str, unit: &'static str, value: Value) -> Self {
        Self {
            name,
            unit,
            device: None,
            value,
        }
    }

    fn on(device: &[u8], name: &'static str, unit: &'static str, value: Value) -> Self {
        Self {
            device: Some(String::from_utf8_lossy(device).into_owned()),
            ..Self::new(name, unit, value)
        }
    }
}

/// Figures of the group in `folder`. A group that is not a server's own gives them only where it sets a limit; a limit that is
/// not set gives none.
pub fn read(kind: Kind, folder: &Path, own: bool) -> Vec<Reading> {
    let parts: &[Vec<Reading>] = &match kind {
        Kind::Cpu => vec![cpu_v1(folder)],
        Kind::Memory => vec![memory_v1(folder, own)],
        Kind::Blkio => vec![io_v1(folder, own)],
        Kind::Unified => vec![
            cpu_v2(folder),
            memory_v2(folder, own),
            io_v2(folder, own),
            pressure_v2(folder, own),
        ],
    };
    parts.concat()
}

/// A file's text; empty where the controller is off, which says the same as a file without the wanted lines.
fn text(folder: &Path, name: &str) -> Vec<u8> {
    files::read(&folder.join(name)).unwrap_or_default()
}

fn figure(folder: &Path, name: &str) -> Option<u64> {
    number(text(folder, name).trim_ascii())
}

fn cpu_v1(folder: &Path) -> Vec<Reading> {
    let (quota, period) = (figure(folder, "cpu.cfs_quota_us"), figure(folder, "cpu.cfs_period_us"));
    match (quota, period) {
        // No quota is written as -1, which is no number here.
        (Some(quota), Some(period)) => cpu(quota, period, &text(folder, "cpu.stat"), b"throttled_time", 1e9),
        _ => Vec::new(),
    }
}

fn cpu_v2(folder: &Path) -> Vec<Reading> {
    let limit = text(folder, "cpu.max");
    let mut parts = fields(limit.trim_ascii()).map(number);
    match (parts.next().flatten(), parts.next().flatten()) {
        (Some(quota), Some(period)) => cpu(quota, period, &text(folder, "cpu.stat"), b"throttled_usec", 1e6),
        _ => Vec::new(),
    }
}

fn cpu(quota_us: u64, period_us: u64, stat: &[u8], throttled: &[u8], per_second: f64) -> Vec<Reading> {
    let counter = |key: &[u8], scale: f64| value(stat, key).map(|count| Value::Counter(count as f64 / scale));
    let limit = Value::Gauge(quota_us as f64 / period_us.max(1) as f64);
    let counters = [
        ("cpu.nr_periods_per_s", "per_s", counter(b"nr_periods", 1.0)),
        ("cpu.nr_throttled_per_s", "per_s", counter(b"nr_throttled", 1.0)),
        ("cpu.throttled_s_per_s", "s_per_s", counter(throttled, per_second)),
    ];
    let mut readings = vec![Reading::new("cpu.limit_cpus", "cpus", limit)];
    readings.extend(
        counters
            .into_iter()
            .filter_map(|(name, unit, value)| Some(Reading::new(name, unit, value?))),
    );
    readings
}

fn memory_v1(folder: &Path, own: bool) -> Vec<Reading> {
    // No limit is written as the largest number of pages.
    let limit = figure(folder, "memory.limit_in_bytes").filter(|&limit| limit < i64::MAX as u64 - 0xffff);
    let kills = value(&text(folder, "memory.oom_control"), b"oom_kill");
    let stat = text(folder, "memory.stat");
    memory(
        own,
        limit,
        figure(folder, "memory.usage_in_bytes"),
        figure(folder, "memory.failcnt"),
        kills,
        &Charged {
            refaults: value(&stat, b"total_workingset_refault_file"),
            anon: value(&stat, b"total_rss"),
            files: sum(&stat, [b"total_inactive_file", b"total_active_file"]),
        },
    )
}

fn memory_v2(folder: &Path, own: bool) -> Vec<Reading> {
    let events = text(folder, "memory.events");
    let (failures, kills) = (value(&events, b"max"), value(&events, b"oom_kill"));
    let stat = text(folder, "memory.stat");
    memory(
        own,
        figure(folder, "memory.max"),
        figure(folder, "memory.current"),
        failures,
        kills,
        &Charged {
            refaults: value(&stat, b"workingset_refault_file"),
            anon: value(&stat, b"anon"),
            files: sum(&stat, [b"inactive_file", b"active_file"]),
        },
    )
}

fn sum(stat: &[u8], keys: [&[u8]; 2]) -> Option<u64> {
    Some(value(stat, keys[0])? + value(stat, keys[1])?)
}

/// What memory.stat tells of a group and those below it.
struct Charged {
    /// File pages read again soon after they were dropped: a group that merely fills its cache has none.
    refaults: Option<u64>,
    /// Memory of the processes' own, no files and no shared memory: it cannot be dropped.
    anon: Option<u64>,
    /// Page cache of files, which is dropped before the group runs out; shared memory is not among it.
    files: Option<u64>,
}

fn memory(
    own: bool,
    limit: Option<u64>,
    usage: Option<u64>,
    failures: Option<u64>,
    kills: Option<u64>,
    charged: &Charged,
) -> Vec<Reading> {
    if !own && limit.is_none() {
        return Vec::new();
    }
    let gauge = |figure: Option<u64>| figure.map(|figure| Value::Gauge(figure as f64));
    let counter = |figure: Option<u64>| figure.map(|figure| Value::Counter(figure as f64));
    [
        ("memory.limit_bytes", "bytes", gauge(limit)),
        ("memory.usage_bytes", "bytes", gauge(usage)),
        ("memory.failures_per_s", "per_s", counter(failures)),
        ("memory.oom_kills_per_s", "per_s", counter(kills)),
        ("memory.refaults_per_s", "per_s", counter(charged.refaults)),
        ("memory.anon_bytes", "bytes", gauge(charged.anon)),
        ("memory.file_bytes", "bytes", gauge(charged.files)),
    ]
    .into_iter()
    .filter_map(|(name, unit, value)| Some(Reading::new(name, unit, value?)))
    .collect()
}

/// The kernel's word for an I/O limit or rate, our name and unit.
type IoFigure = (&'static str, &'static str, &'static str);

const LIMITS_V1: [IoFigure; 4] = [
    (
        "blkio.throttle.read_bps_device",
        "io.read_limit_bytes_per_s",
        "bytes_per_s",
    ),
    (
        "blkio.throttle.write_bps_device",
        "io.write_limit_bytes_per_s",
        "bytes_per_s",
    ),
    ("blkio.throttle.read_iops_device", "io.read_limit_per_s", "per_s"),
    ("blkio.throttle.write_iops_device", "io.write_limit_per_s", "per_s"),
];
/// Likewise, by file and by the operation that a line names.
const COUNTS_V1: [(&str, IoFigure); 4] = [
    (
        "blkio.throttle.io_service_bytes",
        ("Read", "io.read_bytes_per_s", "bytes_per_s"),
    ),
    (
        "blkio.throttle.io_service_bytes",
        ("Write", "io.write_bytes_per_s", "bytes_per_s"),
    ),
    ("blkio.throttle.io_serviced", ("Read", "io.reads_per_s", "per_s")),
    ("blkio.throttle.io_serviced", ("Write", "io.writes_per_s", "per_s")),
];
const LIMITS_V2: [IoFigure; 4] = [
    ("rbps", "io.read_limit_bytes_per_s", "bytes_per_s"),
    ("wbps", "io.write_limit_bytes_per_s", "bytes_per_s"),
    ("riops", "io.read_limit_per_s", "per_s"),
    ("wiops", "io.write_limit_per_s", "per_s"),
];
const COUNTS_V2: [IoFigure; 4] = [
    ("rbytes", "io.read_bytes_per_s", "bytes_per_s"),
    ("wbytes", "io.write_bytes_per_s", "bytes_per_s"),
    ("rios", "io.reads_per_s", "per_s"),
    ("wios", "io.writes_per_s", "per_s"),
];

fn io_v1(folder: &Path, own: bool) -> Vec<Reading> {
    let mut readings = Vec::new();
    for (file, name, unit) in LIMITS_V1 {
        for line in lines(&text(folder, file)) {
            let mut parts = fields(line);
            if let (Some(device), Some(limit)) = (parts.next(), parts.next().and_then(number)) {
                readings.push(Reading::on(device, name, unit, Value::Gauge(limit as f64)));
            }
        }
    }
    if own || !readings.is_empty() {
        for (file, (operation, name, unit)) in COUNTS_V1 {
            readings.extend(counts_v1(&text(folder, file), operation, name, unit));
        }
    }
    readings
}

/// Counters of one operation from lines such as `254:0 Read 4096`.
fn counts_v1(text: &[u8], operation: &str, name: &'static str, unit: &'static str) -> Vec<Reading> {
    let reading = |line: &[u8]| {
        let mut parts = fields(line);
        let device = parts.next()?;
        let count = parts
            .next()
            .filter(|word| *word == operation.as_bytes())
            .and(parts.next())?;
        Some(Reading::on(device, name, unit, Value::Counter(number(count)? as f64)))
    };
    lines(text).filter_map(reading).collect()
}

fn io_v2(folder: &Path, own: bool) -> Vec<Reading> {
    let mut readings = pairs(&text(folder, "io.max"), &LIMITS_V2, Value::Gauge);
    if own || !readings.is_empty() {
        readings.extend(pairs(&text(folder, "io.stat"), &COUNTS_V2, Value::Counter));
    }
    readings
}

/// Figures from lines such as `254:0 rbps=max wbps=1048576`; `max` is no limit.
fn pairs(text: &[u8], wanted: &[IoFigure], kind: fn(f64) -> Value) -> Vec<Reading> {
    let mut readings = Vec::new();
    for line in lines(text) {
        let mut parts = fields(line);
        let Some(device) = parts.next() else {
            continue;
        };
        for pair in parts {
            let figure = wanted.iter().find_map(|(key, name, unit)| {
                let count = number(pair.strip_prefix(key.as_bytes())?.strip_prefix(b"=")?)?;
                Some(Reading::on(device, name, unit, kind(count as f64)))
            });
            readings.extend(figure);
        }
    }
    readings
}

fn pressure_v2(folder: &Path, own: bool) -> Vec<Reading> {
    if !own {
        return Vec::new();
    }
    [
        ("cpu.pressure", "cpu.pressure_some_pct"),
        ("memory.pressure", "memory.pressure_some_pct"),
        ("io.pressure", "io.pressure_some_pct"),
    ]
    .into_iter()
    .filter_map(|(file, name)| {
        let stalled_us = pressure::parse(&text(folder, file)).some?;
        Some(Reading::new(name, "pct", Value::Share(stalled_us as f64 / 1e6)))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    fn found(readings: &[Reading], name: &str) -> Option<Value> {
        readings
            .iter()
            .find(|reading| reading.name == name)
            .map(|reading| reading.value)
    }

    #[test]
    fn both_versions_give_the_same_cpu_figures() {
        let old = group(&[
            ("cpu.cfs_quota_us", "50000\n"),
            ("cpu.cfs_period_us", "100000\n"),
            ("cpu.stat", "nr_periods 10\nnr_throttled 4\nthrottled_time 1500000000\n"),
        ]);
        let new = group(&[
            ("cpu.max", "50000 100000\n"),
            (
                "cpu.stat",
                "usage_usec 9\nnr_periods 10\nnr_throttled 4\nthrottled_usec 1500000\n",
            ),
        ]);
        let readings = read(Kind::Cpu, old.path(), true);
        assert_eq!(found(&readings, "cpu.limit_cpus"), Some(Value::Gauge(0.5)));
        assert_eq!(found(&readings, "cpu.throttled_s_per_s"), Some(Value::Counter(1.5)));
        assert_eq!(readings, read(Kind::Unified, new.path(), false));
    }

    #[test]
    fn a_limit_that_is_not_set_gives_no_row() {
        let folder = group(&[
            ("cpu.cfs_quota_us", "-1\n"),
            ("cpu.cfs_period_us", "100000\n"),
            ("memory.limit_in_bytes", "9223372036854771712\n"),
            ("memory.usage_in_bytes", "4096\n"),
            ("memory.failcnt", "0\n"),
        ]);
        assert_eq!(read(Kind::Cpu, folder.path(), true), []);
        assert_eq!(read(Kind::Memory, folder.path(), false), []);
        let own = read(Kind::Memory, folder.path(), true);
        assert_eq!(found(&own, "memory.limit_bytes"), None);
        assert_eq!(found(&own, "memory.usage_bytes"), Some(Value::Gauge(4096.0)));
    }

    #[test]
    fn both_versions_count_pages_read_again() {
        let old = group(&[(
            "memory.stat",
            "workingset_refault_file 1\ntotal_workingset_refault_file 7\n",
        )]);
        let new = group(&[("memory.stat", "workingset_refault_anon 3\nworkingset_refault_file 7\n")]);
        for (kind, folder) in [(Kind::Memory, old), (Kind::Unified, new)] {
            let readings = read(kind, folder.path(), true);
            assert_eq!(found(&readings, "memory.refaults_per_s"), Some(Value::Counter(7.0)));
        }
    }

    #[test]
    fn what_can_be_dropped_is_told_from_what_cannot() {
        let old = group(&[(
            "memory.stat",
            "rss 1\ninactive_file 1\ntotal_rss 50\ntotal_inactive_file 20\ntotal_active_file 10\n",
        )]);
        let new = group(&[("memory.stat", "anon 50\nfile 90\ninactive_file 20\nactive_file 10\n")]);
        for (kind, folder) in [(Kind::Memory, old), (Kind::Unified, new)] {
            let readings = read(kind, folder.path(), true);
            assert_eq!(found(&readings, "memory.anon_bytes"), Some(Value::Gauge(50.0)));
            assert_eq!(found(&readings, "memory.file_bytes"), Some(Value::Gauge(30.0)));
        }
    }

    #[test]
    fn limits_of_devices() {
        let old = group(&[
            ("blkio.throttle.write_bps_device", "254:0 1048576\n"),
            (
                "blkio.throttle.io_service_bytes",
                "254:0 Read 10\n254:0 Write 20\nTotal 30\n",
            ),
        ]);
        let new = group(&[
            ("io.max", "254:0 rbps=max wbps=1048576 riops=max wiops=max\n"),
            ("io.stat", "254:0 rbytes=10 wbytes=20 rios=1 wios=2 dbytes=0 dios=0\n"),
        ]);
        for readings in [
            read(Kind::Blkio, old.path(), false),
            read(Kind::Unified, new.path(), false),
        ] {
            assert_eq!(
                found(&readings, "io.write_limit_bytes_per_s"),
                Some(Value::Gauge(1_048_576.0))
            );
            assert_eq!(found(&readings, "io.read_limit_bytes_per_s"), None);
            assert_eq!(found(&readings, "io.write_bytes_per_s"), Some(Value::Counter(20.0)));
            assert_eq!(readings[0].device.as_deref(), Some("254:0"));
        }
    }

    #[test]
    fn pressure_of_the_servers_own_group() {
        let folder = group(&[(
            "memory.pressure",
            "some avg10=0.00 avg60=0.00 avg300=0.00 total=2000000\n",
        )]);
        let readings = read(Kind::Unified, folder.path(), true);
        assert_eq!(found(&readings, "memory.pressure_some_pct"), Some(Value::Share(2.0)));
    }
}
