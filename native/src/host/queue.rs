//! A disk's outstanding requests, split into those that wait in the host and those at the device: an estimate.
//!
//! The kernel gives the mean number of outstanding requests exactly (time-weighted, /proc/diskstats), but the number that
//! the driver holds (/sys/block/DEVICE/inflight, Documentation/ABI/stable/sysfs-block) only at the moment of reading. So
//! the share of the device is estimated: the readings at the last samples against the exact means of the same samples,
//! both faded by a factor each time, and held between two bounds that are certain. One outstanding request does not queue
//! behind another, and the device holds at most as many as it has tags. docs/explanation/linux-figures.md has the limits.

use std::path::Path;

use super::files::Kept;
use super::text::{fields, number};

/// Weight that a sample keeps at the next one: the last ten or so count.
const FADE: f64 = 0.9;

/// Mean numbers of requests. `host` is nothing where the kernel tells no split; `device` then holds all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    pub host: Option<f64>,
    pub device: f64,
}

pub struct Splitter {
    inflight: Kept,
    /// Requests that the device takes at once; nothing for stacked devices (dm, md), which queue elsewhere.
    tags: Option<f64>,
    sampled: f64,
    expected: f64,
}

impl Splitter {
    pub fn new(folder: &Path) -> Self {
        Self {
            inflight: Kept::new(folder.join("inflight")),
            tags: tags(folder).map(|tags| tags as f64),
            sampled: 0.0,
            expected: 0.0,
        }
    }

    /// Splits the mean number of outstanding requests of the interval that ends now.
    pub fn split(&mut self, outstanding: f64) -> Split {
        let in_driver = self.inflight.read().ok().and_then(parse_inflight);
        match (in_driver, self.tags) {
            (Some(in_driver), Some(tags)) => self.estimate(outstanding, in_driver, tags),
            _ => Split {
                host: None,
                device: outstanding,
            },
        }
    }

    fn estimate(&mut self, outstanding: f64, in_driver: f64, tags: f64) -> Split {
        self.sampled = self.sampled * FADE + in_driver;
        self.expected = self.expected * FADE + outstanding;
        let share = if self.expected > 0.0 {
            self.sampled / self.expected
        } else {
            1.0
        };
        let least = outstanding.min(1.0);
        let most = outstanding.min(tags).max(least);
        let device = (outstanding * share).clamp(least, most);
        Split {
            host: Some(outstanding - device),
            device,
        }
    }
}

/// Reads and writes that the driver holds.
fn parse_inflight(text: &[u8]) -> Option<f64> {
    let mut counts = fields(text.trim_ascii_end()).map(number);
    Some((counts.next()?? + counts.next()??) as f64)
}

/// What the device takes at once: the depth that its SCSI driver was given, else the tags of its hardware queues.
fn tags(folder: &Path) -> Option<u64> {
    let read = |path: &Path| number(std::fs::read(path).ok()?.trim_ascii());
    if let Some(depth) = read(&folder.join("device/queue_depth")) {
        return Some(depth);
    }
    let queues = std::fs::read_dir(folder.join("mq")).ok()?;
    let total = queues
        .flatten()
        .filter_map(|queue| read(&queue.path().join("nr_tags")))
        .sum();
    (total > 0).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn splitter(tags: Option<u64>) -> (tempfile::TempDir, Splitter) {
        let folder = tempfile::tempdir().unwrap();
        if let Some(tags) = tags {
            std::fs::create_dir_all(folder.path().join("mq/0")).unwrap();
            std::fs::write(folder.path().join("mq/0/nr_tags"), format!("{tags}\n")).unwrap();
        }
        let splitter = Splitter::new(folder.path());
        (folder, splitter)
    }

    fn split(folder: &tempfile::TempDir, splitter: &mut Splitter, inflight: &str, outstanding: f64) -> Split {
        std::fs::write(folder.path().join("inflight"), inflight).unwrap();
        splitter.split(outstanding)
    }

    #[test]
    fn a_single_request_never_waits_in_the_host() {
        let (folder, mut splitter) = splitter(Some(32));
        for _ in 0..20 {
            let split = split(&folder, &mut splitter, "       0        0\n", 0.4);
            assert_eq!((split.host, split.device), (Some(0.0), 0.4));
        }
    }

    #[test]
    fn what_exceeds_the_tags_waits_in_the_host() {
        let (folder, mut splitter) = splitter(Some(32));
        let split = split(&folder, &mut splitter, "      20       80\n", 100.0);
        assert_eq!((split.host, split.device), (Some(68.0), 32.0));
    }

    #[test]
    fn readings_of_the_driver_settle_the_share() {
        let (folder, mut splitter) = splitter(Some(128));
        let mut last = None;
        for _ in 0..30 {
            last = Some(split(&folder, &mut splitter, "       2        2\n", 40.0));
        }
        assert!((last.unwrap().device - 4.0).abs() < 0.01);
    }

    #[test]
    fn a_stacked_device_is_not_split() {
        let (folder, mut splitter) = splitter(None);
        let split = split(&folder, &mut splitter, "       5        5\n", 7.0);
        assert_eq!((split.host, split.device), (None, 7.0));
    }

    #[test]
    fn the_depth_of_a_scsi_disk_wins() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("device")).unwrap();
        std::fs::write(folder.path().join("device/queue_depth"), "31\n").unwrap();
        assert_eq!(tags(folder.path()), Some(31));
    }
}
