//! Interrupts by source and CPU, from /proc/interrupts and /proc/softirqs: of each CPU those that come often, every ten seconds,
//! since the file has a column per CPU and a line per source.

use std::collections::HashMap;
use std::path::Path;

use crate::host::files::Kept;
use crate::host::interval::{Interval, Moment};
use crate::host::statistics::{Figure, Statistics};
use crate::host::text::{fields, lines, number};

const EVERY_S: f64 = 10.0;
/// A thousand a second take a hundredth of a CPU or so.
const OFTEN_PER_S: f64 = 1000.0;
/// What the clock brings to every CPU that works, up to a thousand times a second: it tells of no device and no neighbour.
const TICKS: [&[u8]; 6] = [b"LOC", b"arch_timer", b"TIMER", b"SCHED", b"RCU", b"HRTIMER"];

/// Counts of one file: of each source, one for each CPU of the heading.
#[derive(Default)]
struct Counts {
    cpus: Vec<u64>,
    of: HashMap<Vec<u8>, Vec<u64>>,
}

pub struct Interrupts {
    files: [Kept; 2],
    before: Option<(Moment, [Counts; 2])>,
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
        let counts = self
            .files
            .each_mut()
            .map(|file| file.read().map(parse).unwrap_or_default());
        if let Some((_, before)) = &self.before {
            let mut often: Vec<_> = before
                .iter()
                .zip(&counts)
                .flat_map(|(before, now)| often(before, now, &interval))
                .collect();
            often.sort_by(|one, other| (one.0, one.1).cmp(&(other.0, other.1)));
            often.iter().for_each(|row| add(row, &interval, statistics));
        }
        self.before = Some((*now, counts));
    }
}

/// CPU, source and rate of what comes often; nothing when the CPUs are no longer the same.
fn often<'a>(
    before: &'a Counts,
    now: &'a Counts,
    interval: &'a Interval,
) -> impl Iterator<Item = (u64, &'a [u8], f64)> {
    let is_same = before.cpus == now.cpus;
    let sources = now.of.iter().filter(move |_| is_same);
    sources.flat_map(move |(source, counts)| {
        let known = before.of.get(source).map(Vec::as_slice).unwrap_or_default();
        let pairs = now.cpus.iter().zip(known).zip(counts);
        pairs.filter_map(move |((cpu, before), now)| {
            let per_s = interval.increase(Some(*before), Some(*now))?;
            (per_s >= OFTEN_PER_S).then_some((*cpu, source.as_slice(), per_s))
        })
    })
}

fn add((cpu, source, per_s): &(u64, &[u8], f64), interval: &Interval, statistics: &mut Statistics) {
    let figure = Figure {
        component: "kernel",
        entity: Some(&format!("CPU {cpu} {}", String::from_utf8_lossy(source))),
        name: "interrupts_per_s",
        unit: "per_s",
    };
    statistics.rate(interval, figure, *per_s);
}

/// Reads a table whose heading names CPUs. A source is called as its last word says: the device, or the name that the
/// architecture has for it. Several lines of one name are one source.
fn parse(text: &[u8]) -> Counts {
    let mut rows = lines(text);
    let heading = fields(rows.next().unwrap_or_default());
    let mut counts = Counts {
        cpus: heading.filter_map(|name| number(name.strip_prefix(b"CPU")?)).collect(),
        of: HashMap::new(),
    };
    for row in rows {
        let mut rest = fields(row);
        let Some(label) = rest.next().and_then(|label| label.strip_suffix(b":")) else {
            continue;
        };
        let values: Vec<u64> = rest.by_ref().take(counts.cpus.len()).map_while(number).collect();
        if values.len() < counts.cpus.len() {
            continue; // ERR and MIS are counted once for the whole host
        }
        let source = number(label).and_then(|_| rest.last()).unwrap_or(label);
        if TICKS.contains(&source) {
            continue;
        }
        match counts.of.get_mut(source) {
            Some(known) => known.iter_mut().zip(values).for_each(|(known, more)| *known += more),
            None => drop(counts.of.insert(source.to_vec(), values)),
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERRUPTS: &[u8] =
        b"           CPU0       CPU2       \n 24:          1          5  IO-APIC   5-edge      ACPI:Ged\n\
        \x20 31:         10         20 PCI-MSIX-0000:00:02.0   1-edge      virtio1-input.0\n\
        \x20 32:          7          0 PCI-MSIX-0000:00:02.0   2-edge      virtio1-input.0\n\
        LOC:     146731      83942   Local timer interrupts\nRES:  3  4   Rescheduling interrupts\nERR:          0\n";

    fn of<'a>(counts: &'a Counts, source: &str) -> Option<&'a [u64]> {
        counts.of.get(source.as_bytes()).map(Vec::as_slice)
    }

    #[test]
    fn sources_are_counted_by_cpu() {
        let counts = parse(INTERRUPTS);
        assert_eq!(counts.cpus, [0, 2]);
        assert_eq!(of(&counts, "ACPI:Ged"), Some(&[1, 5][..]));
        assert_eq!(of(&counts, "virtio1-input.0"), Some(&[17, 20][..]));
        assert_eq!(of(&counts, "RES"), Some(&[3, 4][..]));
        assert_eq!(of(&counts, "ERR"), None);
        let soft = parse(b"                    CPU0       CPU2\n       TIMER:          2          0\n      NET_RX:       1219      27");
        assert_eq!(of(&soft, "NET_RX"), Some(&[1219, 27][..]));
    }

    #[test]
    fn the_ticks_of_the_clock_are_left_out() {
        assert_eq!(of(&parse(INTERRUPTS), "LOC"), None);
        let soft = parse(b" CPU0\n TIMER: 2\n SCHED: 3\n RCU: 4\n HRTIMER: 5\n BLOCK: 6\n");
        assert_eq!((soft.of.len(), of(&soft, "BLOCK")), (1, Some(&[6][..])));
    }

    /// A host of 256 CPUs with as many queues of a network card, each served by one, and all CPUs ticking.
    fn large(seconds: u64) -> Vec<u8> {
        const CPUS: u64 = 256;
        let names: Vec<String> = (0..CPUS).map(|cpu| format!("CPU{cpu}")).collect();
        let mut text = format!("     {}\n", names.join(" "));
        for queue in 0..CPUS {
            let on = |cpu| if cpu == queue { seconds * 40 * queue } else { 7 };
            let counts: Vec<String> = (0..CPUS).map(|cpu| on(cpu).to_string()).collect();
            text += &format!(
                "{queue}: {} IR-PCI-MSI {queue}-edge mlx5_comp{queue}\n",
                counts.join(" ")
            );
        }
        let ticks = vec![(seconds * 1000).to_string(); CPUS as usize].join(" ");
        text += &format!("LOC: {ticks} Local timer interrupts\n");
        text.into_bytes()
    }

    #[test]
    fn of_a_large_host_only_what_comes_often_becomes_a_row() {
        let at = |seconds: i64| Moment {
            wall: seconds * 1_000_000_000,
            monotonic: seconds * 1_000_000_000,
            boot: seconds * 1_000_000_000,
        };
        let interval = Interval::between(Some(&at(10)), &at(20));
        let (before, now) = (parse(&large(10)), parse(&large(20)));
        assert_eq!((now.cpus.len(), now.of.len()), (256, 256));
        let found: Vec<_> = often(&before, &now, &interval).collect();
        assert_eq!(found.len(), 256 - 25);
        assert!(found.contains(&(100, &b"mlx5_comp100"[..], 4000.0)));
        let fewer = parse(b" CPU0 CPU1\n 0: 1 2 IR-PCI-MSI 0-edge mlx5_comp0\n");
        assert_eq!(often(&fewer, &now, &interval).count(), 0); // CPUs came meanwhile: whose count is whose is not known
    }
}
