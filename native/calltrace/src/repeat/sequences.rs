//! Finds where a process goes through the same few calls again and again.

use crate::journal::{Entry, SiteId};

/// The longest sequence that is looked for.
const LONGEST: usize = 8;
/// It counts when it comes at least so often in a row.
const LEAST_TIMES: usize = 4;
const NO_SITE: SiteId = SiteId::MAX;

/// How many calls in a row must equal the one so many before: for eight before first, for one before last.
const LEAST: [u32; LONGEST] = {
    let mut least = [0; LONGEST];
    let mut back = 0;
    while back < LONGEST {
        least[back] = ((LEAST_TIMES - 1) * (LONGEST - back)) as u32;
        back += 1;
    }
    least[LONGEST - 1] = u32::MAX; // one call over and over is no sequence
    least
};

/// Entries `first..end` are `length` calls over and over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    pub first: usize,
    pub end: usize,
    pub length: usize,
}

/// All stretches of two to eight different calls that repeat at least four times, in order; none overlap.
///
/// For each length it counts how long each call has been equal to the one that many before. A stretch that repeats
/// with one length, and with a shorter one that divides it, is of the shorter one: no other shorter one can be (N. J.
/// Fine and H. S. Wilf, "Uniqueness theorems for periodic functions", 1965).
pub fn regions(entries: &[Entry]) -> Vec<Region> {
    // Side by side, so that all lengths are compared at once; what stands around them equals nothing.
    let mut sites = vec![NO_SITE; LONGEST];
    sites.extend(entries.iter().map(Entry::site));
    sites.push(NO_SITE - 1);
    let mut found = Vec::new();
    let mut runs = [0; LONGEST];
    for (at, window) in sites.windows(LONGEST + 1).enumerate() {
        let site = window[LONGEST];
        let mut ended = false;
        let mut next = [0; LONGEST];
        for back in 0..LONGEST {
            let same = window[back] == site;
            ended |= !same & (runs[back] >= LEAST[back]);
            next[back] = if same { runs[back] + 1 } else { 0 };
        }
        if ended {
            keep(&mut found, &runs, &next, at);
        }
        runs = next;
    }
    found
}

/// Keep what repeated up to an entry: of the runs that ended there the longest sequence, unless it is made of shorter
/// ones that repeated as long.
fn keep(found: &mut Vec<Region>, runs: &[u32; LONGEST], next: &[u32; LONGEST], at: usize) {
    let run = |length: usize| runs[LONGEST - length] as usize;
    for length in (2..=LONGEST).rev() {
        let ended = next[LONGEST - length] == 0 && run(length) >= LEAST[LONGEST - length] as usize;
        let made_of_shorter = (1..length).any(|part| length.is_multiple_of(part) && run(part) >= run(length));
        if !ended || made_of_shorter {
            continue;
        }
        let covered = found.last().map_or(0, |region| region.end);
        let first = (at - run(length) - length).max(covered);
        let times = (at - first) / length;
        if times >= LEAST_TIMES {
            found.push(Region {
                first,
                end: first + times * length,
                length,
            });
        }
    }
}

/// The calls of a region, begun at the one with the smallest number, so that it is the same wherever it was met.
pub fn turned(entries: &[Entry], region: &Region) -> Vec<SiteId> {
    let mut sites: Vec<SiteId> = entries[region.first..region.first + region.length]
        .iter()
        .map(Entry::site)
        .collect();
    let smallest = (0..sites.len()).min_by_key(|&start| {
        let turned: Vec<SiteId> = sites[start..].iter().chain(&sites[..start]).copied().collect();
        turned
    });
    sites.rotate_left(smallest.unwrap_or(0));
    sites
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(sites: &[SiteId]) -> Vec<Entry> {
        sites.iter().map(|&site| Entry::new(0, 0.0, site, false)).collect()
    }

    #[test]
    fn a_repeated_sequence_is_found_with_its_shortest_length() {
        let mut sites = vec![9, 8];
        sites.extend([1, 2, 3].repeat(10));
        sites.extend([7, 7, 6]);
        sites.extend([4, 5].repeat(4));
        let found = regions(&entries(&sites));
        let shown: Vec<_> = found
            .iter()
            .map(|region| (region.first, region.end, region.length))
            .collect();
        assert_eq!(shown, [(2, 32, 3), (35, 43, 2)]);
    }

    #[test]
    fn one_call_over_and_over_is_no_sequence_and_three_times_are_too_few() {
        assert!(regions(&entries(&[1; 100])).is_empty());
        assert!(regions(&entries(&[1, 2].repeat(3))).is_empty());
        assert!(regions(&entries(&(0..100).collect::<Vec<_>>())).is_empty());
        assert!(regions(&[]).is_empty());
    }

    #[test]
    fn regions_do_not_overlap() {
        let mut sites = [1, 2].repeat(6);
        sites.extend([2, 3].repeat(6));
        sites.extend([2, 3, 4, 4].repeat(5));
        let found = regions(&entries(&sites));
        assert!(found.windows(2).all(|pair| pair[0].end <= pair[1].first), "{found:?}");
        assert_eq!(found.len(), 3);
    }

    #[test]
    fn a_sequence_is_the_same_wherever_it_begins() {
        let list = entries(&[3, 1, 2, 1, 3, 1, 2, 1]);
        let at = |first| Region {
            first,
            end: first + 4,
            length: 4,
        };
        assert_eq!(turned(&list, &at(0)), turned(&list, &at(2)));
        assert_eq!(turned(&list, &at(0)), [1, 2, 1, 3]);
    }
}
