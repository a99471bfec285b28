//! Kernel settings that matter to a database, for the `setting` table; read once, at the start.

use std::path::{Path, PathBuf};

use arrow_schema::ArrowError;

use super::cpus::numa;
use super::interval::Interval;
use crate::batch::Batch;
use crate::sheet::{Layouts, Sheet, columns};

columns!(SettingColumns {
    component,
    name,
    value,
    source_file,
});

const SYSCTLS: [&str; 28] = [
    "fs.aio-max-nr",
    "fs.file-max",
    "kernel.numa_balancing",
    "kernel.pid_max",
    "kernel.sched_autogroup_enabled",
    "kernel.sched_rt_runtime_us",
    "kernel.sem",
    "kernel.shmall",
    "kernel.shmmax",
    "kernel.task_delayacct",
    "kernel.threads-max",
    "net.core.somaxconn",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_tw_recycle",
    "vm.dirty_background_bytes",
    "vm.dirty_background_ratio",
    "vm.dirty_bytes",
    "vm.dirty_ratio",
    "vm.laptop_mode",
    "vm.min_free_kbytes",
    "vm.nr_hugepages",
    "vm.overcommit_kbytes",
    "vm.overcommit_memory",
    "vm.overcommit_ratio",
    "vm.swappiness",
    "vm.vfs_cache_pressure",
    "vm.zone_reclaim_mode",
    "vm.nr_overcommit_hugepages",
];
/// Of the CPUs, by name and path below /sys/devices/system.
const CPU: [(&str, &str); 3] = [
    ("cpu.governor", "cpu/cpu0/cpufreq/scaling_governor"),
    ("cpu.clocksource", "clocksource/clocksource0/current_clocksource"),
    ("cpu.numa_nodes", "node/online"),
];
const HUGE_PAGES: [&str; 2] = ["enabled", "defrag"];
/// Settings of a block device, by their path in its folder of /sys/block.
const BLOCK: [(&str, &str); 9] = [
    ("scheduler", "queue/scheduler"),
    ("nr_requests", "queue/nr_requests"),
    ("queue_depth", "device/queue_depth"),
    ("rotational", "queue/rotational"),
    ("read_ahead_kb", "queue/read_ahead_kb"),
    ("write_cache", "queue/write_cache"),
    ("nomerges", "queue/nomerges"),
    ("max_sectors_kb", "queue/max_sectors_kb"),
    ("max_hw_sectors_kb", "queue/max_hw_sectors_kb"),
];

pub struct Settings {
    proc: PathBuf,
    sys: PathBuf,
    sheet: Sheet<SettingColumns>,
}

impl Settings {
    pub fn new(proc: &Path, sys: &Path, host: &str, layouts: &Layouts) -> Result<Self, ArrowError> {
        Ok(Self {
            proc: proc.to_path_buf(),
            sys: sys.to_path_buf(),
            sheet: Sheet::new("setting", host, layouts)?,
        })
    }

    /// Adds what this kernel has; a setting that it does not have gives no row.
    pub fn sample(&mut self, interval: &Interval) {
        for name in SYSCTLS {
            let path = self.proc.join("sys").join(name.replace('.', "/"));
            self.add(interval, name, &path);
        }
        for name in HUGE_PAGES {
            let path = self.sys.join("kernel/mm/transparent_hugepage").join(name);
            self.add(interval, &format!("transparent_hugepage.{name}"), &path);
        }
        for (name, path) in CPU {
            self.add(interval, name, &self.sys.join("devices/system").join(path));
        }
        self.add_nodes(interval);
        for device in real_devices(&self.sys.join("block")) {
            self.add_device(interval, &device);
        }
    }

    /// The limits of a block device, by its folder of /sys.
    pub fn add_device(&mut self, interval: &Interval, device: &Path) {
        let Some(name) = device.file_name().map(|name| name.to_string_lossy().into_owned()) else {
            return;
        };
        for (setting, path) in BLOCK {
            self.add(interval, &format!("block.{name}.{setting}"), &device.join(path));
        }
    }

    /// What a host with several nodes of memory is made of.
    fn add_nodes(&mut self, interval: &Interval) {
        let nodes = numa::nodes(&self.sys);
        for (number, folder) in nodes.iter().filter(|_| nodes.len() > 1) {
            for name in ["cpulist", "distance"] {
                self.add(interval, &format!("numa.node{number}.{name}"), &folder.join(name));
            }
        }
    }

    fn add(&mut self, interval: &Interval, name: &str, path: &Path) {
        if let Ok(text) = std::fs::read_to_string(path) {
            self.tell(interval, "kernel", name, chosen(text.trim()), Some(path));
        }
    }

    /// Adds one setting, and the file that it was read from.
    pub fn tell(&mut self, interval: &Interval, component: &str, name: &str, value: &str, file: Option<&Path>) {
        let (columns, file) = (self.sheet.columns, file.map(Path::to_string_lossy));
        self.sheet.begin_at(interval.ts_us);
        self.sheet.str(columns.component, component);
        self.sheet.str(columns.name, name);
        self.sheet.str(columns.value, value);
        self.sheet.str(columns.source_file, file.as_deref());
        self.sheet.end();
    }

    pub fn finish(&mut self, batches: &mut Vec<Batch>) -> Result<(), ArrowError> {
        self.sheet.finish(batches)
    }
}

/// Block devices with something behind them: loop, ram and zram have no `device`.
fn real_devices(block: &Path) -> Vec<PathBuf> {
    let mut devices: Vec<PathBuf> = std::fs::read_dir(block)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| is_real(path))
        .collect();
    devices.sort();
    devices
}

/// Whether something is behind a block device.
pub fn is_real(device: &Path) -> bool {
    device.join("device").exists()
}

/// The choice in force where the kernel lists them all: `never [madvise] always`.
fn chosen(text: &str) -> &str {
    let bracketed = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    bracketed.map_or(text, |(choice, _)| choice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choice_in_force_is_the_bracketed_one() {
        assert_eq!(chosen("none [mq-deadline] kyber bfq"), "mq-deadline");
        assert_eq!(chosen("60"), "60");
    }
}
