//! How long passes take: median, extremes, and how many there are of each length.

use super::Passes;

pub struct Lengths {
    pub p50_s: f64,
    pub p95_s: f64,
    pub min_s: f64,
    pub max_s: f64,
    pub mean_s: f64,
    pub distribution: Vec<Passes>,
}

impl Lengths {
    /// Of lengths in any order, which they are put into as far as is needed; null when there is none.
    pub fn of(lengths_ns: &mut [u64]) -> Option<Lengths> {
        let last = lengths_ns.len().checked_sub(1)?;
        let total_ns: u128 = lengths_ns.iter().map(|&ns| u128::from(ns)).sum();
        let distribution = distribution(lengths_ns);
        let mut at = |rank: usize| *lengths_ns.select_nth_unstable(rank).1 as f64 / 1e9;
        Some(Lengths {
            p50_s: (at(last / 2) + at(last.div_ceil(2))) / 2.0,
            p95_s: at((last * 95).div_ceil(100)),
            min_s: at(0),
            max_s: at(last),
            mean_s: total_ns as f64 / 1e9 / (last + 1) as f64,
            distribution,
        })
    }
}

/// Counts up to 1, 2, 5, 10... of a microsecond and so on, from the first to the last that is not empty.
fn distribution(lengths_ns: &[u64]) -> Vec<Passes> {
    let edges: Vec<u64> = (3..13)
        .flat_map(|power| [1, 2, 5].map(|step| step * 10_u64.pow(power)))
        .collect();
    let mut passes = vec![0; edges.len() + 1];
    for &ns in lengths_ns {
        passes[edges.partition_point(|&edge| edge < ns)] += 1;
    }
    let longest_ns = lengths_ns.iter().copied().max().unwrap_or(0);
    let edges = edges.iter().copied().chain([longest_ns]);
    let mut buckets: Vec<Passes> = edges
        .zip(passes)
        .map(|(edge, passes)| Passes {
            le_s: edge as f64 / 1e9,
            passes,
        })
        .collect();
    while buckets.last().is_some_and(|bucket| bucket.passes == 0) {
        buckets.pop();
    }
    let empty = buckets.iter().take_while(|bucket| bucket.passes == 0).count();
    buckets.split_off(empty)
}
