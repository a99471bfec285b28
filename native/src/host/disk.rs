//! The `disk` table from /proc/diskstats and /sys/block/DEVICE/inflight.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use arrow_schema::ArrowError;

use super::events::Events;
use super::files::Kept;
use super::interval::{Interval, tidy};
use super::queue::{Split, Splitter};
use super::text::{fields, lines, number};
use crate::batch::Batch;
use crate::sheet::{Layouts, Sheet, columns};

columns!(DiskColumns {
    device,
    reads_per_s,
    writes_per_s,
    read_bytes_per_s,
    write_bytes_per_s,
    read_ms,
    write_ms,
    host_queue,
    device_queue,
    host_queue_ms,
    device_ms,
    util_pct,
});

const SECTOR_BYTES: u64 = 512;

/// Counters of one line of /proc/diskstats (Documentation/admin-guide/iostats.rst).
#[derive(Clone, Copy, Default, Debug, PartialEq)]
pub struct Counters {
    reads: u64,
    sectors_read: u64,
    writes: u64,
    sectors_written: u64,
    /// The times are in ms and printed with 32 bits, so they start again from 0 after 49 days.
    read_ms: u32,
    write_ms: u32,
    busy_ms: u32,
    queue_ms: u32,
}

/// Name and counters of a line; nothing for a line that is too short (partitions before Linux 2.6.25).
pub fn parse_line(line: &[u8]) -> Option<(&[u8], Counters)> {
    let mut rest = fields(line).skip(2);
    let name = rest.next()?;
    let mut values = [0u64; 11];
    for value in &mut values {
        *value = number(rest.next()?)?;
    }
    let [
        reads,
        _,
        sectors_read,
        read_ms,
        writes,
        _,
        sectors_written,
        write_ms,
        _,
        busy_ms,
        queue_ms,
    ] = values;
    let counters = Counters {
        reads,
        sectors_read,
        writes,
        sectors_written,
        read_ms: read_ms as u32,
        write_ms: write_ms as u32,
        busy_ms: busy_ms as u32,
        queue_ms: queue_ms as u32,
    };
    Some((name, counters))
}

impl Counters {
    /// What happened since `before`; nothing when the device was replaced meanwhile.
    fn since(&self, before: &Counters) -> Option<Counters> {
        Some(Counters {
            reads: self.reads.checked_sub(before.reads)?,
            sectors_read: self.sectors_read.checked_sub(before.sectors_read)?,
            writes: self.writes.checked_sub(before.writes)?,
            sectors_written: self.sectors_written.checked_sub(before.sectors_written)?,
            read_ms: self.read_ms.wrapping_sub(before.read_ms),
            write_ms: self.write_ms.wrapping_sub(before.write_ms),
            busy_ms: self.busy_ms.wrapping_sub(before.busy_ms),
            queue_ms: self.queue_ms.wrapping_sub(before.queue_ms),
        })
    }

    fn is_untouched(&self) -> bool {
        self.reads == 0 && self.writes == 0
    }
}

/// A whole device, or one that was looked at and is none.
enum Device {
    Whole { before: Counters, splitter: Splitter },
    Partition,
}

pub struct Disks {
    file: Kept,
    block: PathBuf,
    devices: HashMap<Vec<u8>, Device>,
    sheet: Sheet<DiskColumns>,
}

impl Disks {
    pub fn new(proc: &Path, sys: &Path, host: &str, layouts: &Layouts) -> Result<Self, ArrowError> {
        Ok(Self {
            file: Kept::new(proc.join("diskstats")),
            block: sys.join("block"),
            devices: HashMap::new(),
            sheet: Sheet::new("disk", host, layouts)?,
        })
    }

    pub fn sample(&mut self, interval: &Interval, events: &mut Events) {
        let Self {
            file,
            block,
            devices,
            sheet,
        } = self;
        let text = match file.read() {
            Ok(text) => text,
            Err(error) => return events.not_measured("/proc/diskstats", &error.to_string(), "mount /proc"),
        };
        // A device without any I/O since boot (loop, ram, an empty drive) says nothing.
        for (name, now) in lines(text)
            .filter_map(parse_line)
            .filter(|(_, now)| !now.is_untouched())
        {
            let Some(device) = devices.get_mut(name) else {
                devices.insert(name.to_vec(), Device::found(block, name, now));
                continue;
            };
            let Device::Whole { before, splitter } = device else {
                continue;
            };
            let passed = now.since(before);
            *before = now;
            let device = String::from_utf8_lossy(name);
            match (passed, interval.seconds) {
                (Some(passed), Some(seconds)) => {
                    let outstanding = f64::from(passed.queue_ms) / 1000.0 / seconds;
                    add_row(sheet, interval, &device, &passed, splitter.split(outstanding));
                }
                (None, _) => events.restart(&device),
                (_, None) => {}
            }
        }
    }

    pub fn finish(&mut self, batches: &mut Vec<Batch>) -> Result<(), ArrowError> {
        self.sheet.finish(batches)
    }
}

impl Device {
    fn found(block: &Path, name: &[u8], now: Counters) -> Self {
        // The kernel writes a slash in a device's name (cciss/c0d0) as an exclamation mark in /sys.
        let folder = block.join(String::from_utf8_lossy(name).replace('/', "!"));
        if !folder.is_dir() {
            return Device::Partition;
        }
        Device::Whole {
            before: now,
            splitter: Splitter::new(&folder),
        }
    }
}

fn add_row(sheet: &mut Sheet<DiskColumns>, interval: &Interval, device: &str, passed: &Counters, split: Split) {
    let columns = sheet.columns;
    let requests = (passed.reads + passed.writes) as f64;
    let seconds = interval.seconds.unwrap_or(f64::NAN);
    // Little's law: mean time in a queue = mean length / throughput (J. D. C. Little, Operations Research 9, 1961).
    let wait_ms = |length: f64| (requests > 0.0).then(|| tidy(length * seconds * 1000.0 / requests));
    sheet.begin(interval.ts_us, interval.rounded_s());
    sheet.str(columns.device, device);
    sheet.f64(columns.reads_per_s, interval.rate(passed.reads as f64));
    sheet.f64(columns.writes_per_s, interval.rate(passed.writes as f64));
    sheet.f64(
        columns.read_bytes_per_s,
        interval.rate((passed.sectors_read * SECTOR_BYTES) as f64),
    );
    sheet.f64(
        columns.write_bytes_per_s,
        interval.rate((passed.sectors_written * SECTOR_BYTES) as f64),
    );
    sheet.f64(columns.read_ms, mean_ms(passed.read_ms, passed.reads));
    sheet.f64(columns.write_ms, mean_ms(passed.write_ms, passed.writes));
    sheet.f64(columns.host_queue, split.host.map(tidy));
    sheet.f64(columns.device_queue, tidy(split.device));
    sheet.f64(columns.host_queue_ms, split.host.and_then(wait_ms));
    sheet.f64(columns.device_ms, wait_ms(split.device));
    sheet.f64(
        columns.util_pct,
        interval
            .share(f64::from(passed.busy_ms) * 1e6)
            .map(|share| share.min(100.0)),
    );
    sheet.end();
}

fn mean_ms(total_ms: u32, count: u64) -> Option<f64> {
    (count > 0).then(|| tidy(f64::from(total_ms) / count as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    const VDA: &[u8] = b" 254       0 vda 117050 44783 10531994 42311 34251 47623 12884448 58341 0 19352 102229 10901 100 1178736 1303 4210 273";

    #[test]
    fn a_line_of_any_kernel() {
        let (name, counters) = parse_line(VDA).unwrap();
        assert_eq!(name, b"vda");
        assert_eq!((counters.reads, counters.writes), (117050, 34251));
        assert_eq!((counters.busy_ms, counters.queue_ms), (19352, 102229));
        assert!(
            parse_line(b"8 0 sda 1 2 3 4 5 6 7 8 0 9 10").is_some(),
            "before discards, Linux 4.17"
        );
        assert!(parse_line(b"8 1 sda1 1 2 3 4").is_none());
        assert!(parse_line(b"8 0 sda 1 2 3 4 5 6 7 8 0 9").is_none(), "cut off");
    }

    #[test]
    fn times_wrap_and_counts_do_not() {
        let before = Counters {
            reads: 10,
            read_ms: u32::MAX - 4,
            ..Counters::default()
        };
        let after = Counters {
            reads: 12,
            read_ms: 5,
            ..Counters::default()
        };
        assert_eq!(after.since(&before).unwrap().read_ms, 10);
        assert_eq!(before.since(&after), None, "a device that was plugged in again");
    }
}
