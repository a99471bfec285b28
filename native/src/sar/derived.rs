//! Columns that follow from several figures of a line.

use super::block::{Block, Kind};

const KIB: f64 = 1024.0;
const MIB: f64 = 1024.0 * 1024.0;

pub type Columns = Vec<(&'static str, Option<f64>)>;

/// Columns, and their values; nothing for what must not stand there.
pub fn columns(block: &Block, values: &[f64]) -> Columns {
    let of = |name: &str| block.value(name, values);
    match block.kind {
        Kind::Disk => without_requests(of),
        Kind::FileSystem => available_bytes(of).into_iter().collect(),
        Kind::Memory => [total_bytes(of), page_cache_bytes(of)].into_iter().flatten().collect(),
        Kind::Queue => run_queue(of).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Without requests nothing was timed: sar prints 0.
fn without_requests(of: impl Fn(&str) -> Option<f64>) -> Columns {
    let idle = of("tps").or(of("r+w/s")) == Some(0.0);
    let times = [
        ("await", "request_ms"),
        ("avwait", "host_queue_ms"),
        ("avserv", "device_ms"),
    ];
    let untimed = times.into_iter().filter(|(name, _)| idle && of(name) == Some(0.0));
    untimed.map(|(_, column)| (column, None)).collect()
}

/// What is reserved for root is free, but not available: %ufsused is the share that others cannot have.
fn available_bytes(of: impl Fn(&str) -> Option<f64>) -> Option<(&'static str, Option<f64>)> {
    let (free, used, share) = (of("MBfsfree")?, of("MBfsused")?, of("%ufsused")?);
    Some((
        "available_bytes",
        Some(((1.0 - share / 100.0) * (free + used) * MIB).round()),
    ))
}

/// Until sysstat 11.7.3 `kbmemused` was all that is not free; since then buffers, cache and slab are taken out. The
/// printed share tells which; without `kbslab` the newer one does not tell the total.
fn total_bytes(of: impl Fn(&str) -> Option<f64>) -> Option<(&'static str, Option<f64>)> {
    let (free, used, share) = (of("kbmemfree")?, of("kbmemused")?, of("%memused")?);
    let fits = |total: &f64| *total > 0.0 && (used / total * 100.0 - share).abs() < 0.0051;
    let rest = || Some(of("kbbuffers")? + of("kbcached")? + of("kbslab")?);
    let all = Some(free + used).filter(fits);
    let total = all.or_else(|| rest().map(|rest| free + used + rest).filter(fits))?;
    Some(("total_bytes", Some(total * KIB)))
}

/// The kernel counts shared memory as cached; it is no cache, so it is taken out where it is told.
fn page_cache_bytes(of: impl Fn(&str) -> Option<f64>) -> Option<(&'static str, Option<f64>)> {
    let cache = of("kbbuffers")? + of("kbcached")? - of("kbshmem")?;
    Some(("page_cache_bytes", Some(cache.max(0.0) * KIB)))
}

/// System V averages its queue over the time in which there was one.
fn run_queue(of: impl Fn(&str) -> Option<f64>) -> Option<(&'static str, Option<f64>)> {
    Some(("run_queue", Some(of("runq-sz")? * of("%runocc")? / 100.0)))
}
