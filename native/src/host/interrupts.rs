//! Interrupts by source and CPU, from /proc/interrupts and /proc/softirqs: of each CPU those that come often, every ten seconds,
//! since the file has a column per CPU and a line per source.

use std::collections::HashMap;
use std::path::Path;

use super::files::Kept;
use super::interval::{Interval, Moment};
use super::statistics::{Figure, Statistics};
use super::text::{fields, lines, number};

const EVERY_S: f64 = 10.0;
/// A thousand a second take a hundredth of a CPU or so.
const OFTEN_PER_S: f64 = 1000.0;

/// Counts by CPU and source.
type Counts = HashMap<(u64, String), u64>;

pub struct Interrupts {
    files: [Kept; 2],
    before: Option<(Moment, Counts)>,
}

impl Interrupts {
    pub fn new(proc: &Path) -> Self {
        Self {
            files: ["interrupts", "softirqs"].map(|name| Kept::new(proc.join(name))),
            before: None,
        }
    }

    pub fn sample(&mut self, now: &Moment, statistics: &mut Statistics) {
        let interval = Interval::between(self.before.as_ref().map(|(then, _)| then), now);
        if self.before.is_some() && interval.rounded_s().is_none_or(|seconds| seconds < EVERY_S) {
            return;
        }
        let mut counts = Counts::new();
        for file in &mut self.files {
            if let Ok(text) = file.read() {
                parse(text, &mut counts);
            }
        }
        if let Some((_, before)) = &self.before {
            add_often(before, &counts, &interval, statistics);
        }
        self.before = Some((*now, counts));
    }
}

fn add_often(before: &Counts, now: &Counts, interval: &Interval, statistics: &mut Statistics) {
    let mut often: Vec<_> = now
        .iter()
        .filter_map(|(source, count)| {
            let per_s = interval.increase(before.get(source).copied(), Some(*count))?;
            (per_s >= OFTEN_PER_S).then_some((source, per_s))
        })
        .collect();
    often.sort_by(|one, other| one.0.cmp(other.0));
    for ((cpu, source), per_s) in often {
        let figure = Figure {
            component: "kernel",
            entity: Some(&format!("CPU {cpu} {source}")),
            name: "interrupts_per_s",
            unit: "per_s",
        };
        statistics.rate(interval, figure, per_s);
    }
}

/// Adds the counts of a table whose heading names CPUs. A source is called as its last word says: the device, or the name that
/// the architecture has for it.
fn parse(text: &[u8], counts: &mut Counts) {
    let mut rows = lines(text);
    let cpus: Vec<u64> = fields(rows.next().unwrap_or_default())
        .filter_map(|name| number(name.strip_prefix(b"CPU")?))
        .collect();
    for row in rows {
        let mut rest = fields(row);
        let Some(label) = rest.next().and_then(|label| label.strip_suffix(b":")) else {
            continue;
        };
        let values: Vec<u64> = rest.by_ref().take(cpus.len()).map_while(number).collect();
        if values.len() < cpus.len() {
            continue; // ERR and MIS are counted once for the whole host
        }
        let described = number(label).and_then(|_| rest.last());
        let source = String::from_utf8_lossy(described.unwrap_or(label)).into_owned();
        for (cpu, count) in cpus.iter().zip(values) {
            *counts.entry((*cpu, source.clone())).or_default() += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERRUPTS: &[u8] =
        b"           CPU0       CPU2       \n 24:          1          5  IO-APIC   5-edge      ACPI:Ged\n\
        \x20 31:         10         20 PCI-MSIX-0000:00:02.0   1-edge      virtio1-input.0\n\
        LOC:     146731      83942   Local timer interrupts\nERR:          0\n";

    #[test]
    fn sources_are_counted_by_cpu() {
        let mut counts = Counts::new();
        parse(INTERRUPTS, &mut counts);
        parse(b"                    CPU0       CPU2\n          HI:          2          0\n      NET_RX:       1219      27", &mut counts);
        let of = |cpu, source: &str| counts.get(&(cpu, source.to_string())).copied();
        assert_eq!((of(0, "ACPI:Ged"), of(2, "virtio1-input.0")), (Some(1), Some(20)));
        assert_eq!(
            (of(2, "LOC"), of(0, "NET_RX"), of(0, "ERR")),
            (Some(83942), Some(1219), None)
        );
    }
}
