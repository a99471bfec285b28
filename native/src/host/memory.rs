//! The `memory` table from /proc/meminfo, /proc/vmstat and /proc/pressure/memory.

use std::path::Path;

use arrow_schema::ArrowError;

use super::events::Events;
use super::files::Kept;
use super::interval::Interval;
use super::pressure::Pressure;
use super::text::{lines, number};
use crate::batch::Batch;
use crate::sheet::{Layouts, Sheet, columns};

columns!(MemoryColumns {
    total_bytes,
    free_bytes,
    available_bytes,
    anon_bytes,
    page_cache_bytes,
    page_tables_bytes,
    shmem_bytes,
    swap_total_bytes,
    swap_free_bytes,
    huge_pages_total,
    huge_pages_free,
    huge_pages_rsvd,
    huge_page_bytes,
    page_in_kib_per_s,
    page_out_kib_per_s,
    swap_in_per_s,
    swap_out_per_s,
    scan_per_s,
    minor_faults_per_s,
    major_faults_per_s,
    pressure_some_pct,
    pressure_full_pct,
});

/// What /proc/meminfo says, sizes in KiB. A kernel before 3.14 gives no `available`.
#[derive(Default, Debug, PartialEq)]
pub struct Meminfo {
    total: Option<u64>,
    free: Option<u64>,
    available: Option<u64>,
    buffers: Option<u64>,
    cached: Option<u64>,
    anon: Option<u64>,
    shmem: Option<u64>,
    page_tables: Option<u64>,
    swap_total: Option<u64>,
    swap_free: Option<u64>,
    huge_total: Option<u64>,
    huge_free: Option<u64>,
    huge_rsvd: Option<u64>,
    huge_size: Option<u64>,
}

impl Meminfo {
    pub fn parse(text: &[u8]) -> Self {
        let mut info = Self::default();
        for line in lines(text) {
            let Some(colon) = line.iter().position(|&byte| byte == b':') else {
                continue;
            };
            let figure = match &line[..colon] {
                b"MemTotal" => &mut info.total,
                b"MemFree" => &mut info.free,
                b"MemAvailable" => &mut info.available,
                b"Buffers" => &mut info.buffers,
                b"Cached" => &mut info.cached,
                b"AnonPages" => &mut info.anon,
                b"Shmem" => &mut info.shmem,
                b"PageTables" => &mut info.page_tables,
                b"SwapTotal" => &mut info.swap_total,
                b"SwapFree" => &mut info.swap_free,
                b"HugePages_Total" => &mut info.huge_total,
                b"HugePages_Free" => &mut info.huge_free,
                b"HugePages_Rsvd" => &mut info.huge_rsvd,
                b"Hugepagesize" => &mut info.huge_size,
                _ => continue,
            };
            *figure = number(line[colon + 1..].trim_ascii_start());
        }
        info
    }

    /// File pages and buffers. The kernel counts shared memory as cached; it is no cache, so it is taken out.
    fn page_cache(&self) -> Option<u64> {
        Some((self.cached? + self.buffers?).saturating_sub(self.shmem?))
    }
}

/// Counters of /proc/vmstat.
#[derive(Default, Debug, PartialEq)]
pub struct Vmstat {
    page_in: Option<u64>,
    page_out: Option<u64>,
    swap_in: Option<u64>,
    swap_out: Option<u64>,
    scanned: Option<u64>,
    faults: Option<u64>,
    major_faults: Option<u64>,
}

impl Vmstat {
    pub fn parse(text: &[u8]) -> Self {
        let mut stat = Self::default();
        for line in lines(text).filter(|line| line[0] == b'p') {
            let Some(blank) = line.iter().position(|&byte| byte == b' ') else {
                continue;
            };
            let count = number(&line[blank + 1..]);
            match &line[..blank] {
                b"pgpgin" => stat.page_in = count,
                b"pgpgout" => stat.page_out = count,
                b"pswpin" => stat.swap_in = count,
                b"pswpout" => stat.swap_out = count,
                b"pgfault" => stat.faults = count,
                b"pgmajfault" => stat.major_faults = count,
                key if is_scan(key) => stat.scanned = Some(stat.scanned.unwrap_or(0) + count.unwrap_or(0)),
                _ => {}
            }
        }
        stat
    }

    fn minor_faults(&self) -> Option<u64> {
        self.faults?.checked_sub(self.major_faults?)
    }
}

/// Pages scanned by kswapd or directly; kernels before 4.8 count them per zone (pgscan_kswapd_normal, ...).
fn is_scan(key: &[u8]) -> bool {
    (key.starts_with(b"pgscan_kswapd") || key.starts_with(b"pgscan_direct")) && !key.ends_with(b"_throttle")
}

pub struct Memory {
    meminfo: Kept,
    vmstat: Kept,
    pressure: Pressure,
    sheet: Sheet<MemoryColumns>,
    before: Vmstat,
}

impl Memory {
    pub fn new(proc: &Path, host: &str, layouts: &Layouts) -> Result<Self, ArrowError> {
        Ok(Self {
            meminfo: Kept::new(proc.join("meminfo")),
            vmstat: Kept::new(proc.join("vmstat")),
            pressure: Pressure::new(proc.join("pressure/memory")),
            sheet: Sheet::new("memory", host, layouts)?,
            before: Vmstat::default(),
        })
    }

    pub fn sample(&mut self, interval: &Interval, events: &mut Events) {
        let info = match self.meminfo.read() {
            Ok(text) => Meminfo::parse(text),
            Err(error) => return events.not_measured("/proc/meminfo", &error.to_string(), "mount /proc"),
        };
        self.sheet.begin(interval.ts_us, interval.rounded_s());
        self.add_sizes(&info);
        match self.vmstat.read().map(Vmstat::parse) {
            Ok(now) => self.add_rates(interval, now),
            Err(error) => events.not_measured("/proc/vmstat", &error.to_string(), "mount /proc"),
        }
        // That there is no pressure file is said by the cpu table.
        if let Ok(shares) = self.pressure.sample(interval) {
            self.sheet.f64(self.sheet.columns.pressure_some_pct, shares.some);
            self.sheet.f64(self.sheet.columns.pressure_full_pct, shares.full);
        }
        self.sheet.end();
    }

    fn add_sizes(&mut self, info: &Meminfo) {
        let columns = self.sheet.columns;
        for (column, kib) in [
            (columns.total_bytes, info.total),
            (columns.free_bytes, info.free),
            (columns.available_bytes, info.available),
            (columns.anon_bytes, info.anon),
            (columns.page_cache_bytes, info.page_cache()),
            (columns.page_tables_bytes, info.page_tables),
            (columns.shmem_bytes, info.shmem),
            (columns.swap_total_bytes, info.swap_total),
            (columns.swap_free_bytes, info.swap_free),
            (columns.huge_page_bytes, info.huge_size),
        ] {
            self.sheet.count(column, kib.map(|kib| kib * 1024));
        }
        self.sheet.count(columns.huge_pages_total, info.huge_total);
        self.sheet.count(columns.huge_pages_free, info.huge_free);
        self.sheet.count(columns.huge_pages_rsvd, info.huge_rsvd);
    }

    fn add_rates(&mut self, interval: &Interval, now: Vmstat) {
        let before = std::mem::take(&mut self.before);
        let columns = self.sheet.columns;
        for (column, before, now) in [
            (columns.page_in_kib_per_s, before.page_in, now.page_in),
            (columns.page_out_kib_per_s, before.page_out, now.page_out),
            (columns.swap_in_per_s, before.swap_in, now.swap_in),
            (columns.swap_out_per_s, before.swap_out, now.swap_out),
            (columns.scan_per_s, before.scanned, now.scanned),
            (columns.minor_faults_per_s, before.minor_faults(), now.minor_faults()),
            (columns.major_faults_per_s, before.major_faults, now.major_faults),
        ] {
            self.sheet.f64(column, interval.increase(before, now));
        }
        self.before = now;
    }

    pub fn finish(&mut self, batches: &mut Vec<Batch>) -> Result<(), ArrowError> {
        self.sheet.finish(batches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_of_2013_gives_no_available_memory() {
        let info = Meminfo::parse(
            b"MemTotal:        1884188 kB\nMemFree:          100 kB\nBuffers:  10 kB\nCached:  500 kB\nSwapCached: 7 kB\n\
              AnonPages:  40 kB\nShmem:  120 kB\nPageTables:  5 kB\nHugePages_Total:  3\nHugepagesize:  2048 kB\nSwapTot",
        );
        assert_eq!(info.available, None);
        assert_eq!(
            (info.total, info.huge_total, info.huge_size),
            (Some(1_884_188), Some(3), Some(2048))
        );
        assert_eq!(info.page_cache(), Some(390));
        assert_eq!(info.swap_total, None);
    }

    #[test]
    fn scans_are_summed_over_zones_and_ways() {
        let stat = Vmstat::parse(
            b"nr_free_pages 1\npgpgin 7\npgfault 100\npgmajfault 4\npgscan_kswapd_dma 1\npgscan_kswapd_normal 2\n\
              pgscan_direct_normal 4\npgscan_direct_throttle 800\n",
        );
        assert_eq!(stat.scanned, Some(7));
        assert_eq!((stat.page_in, stat.minor_faults()), (Some(7), Some(96)));
        assert_eq!(stat.swap_in, None);
    }
}
