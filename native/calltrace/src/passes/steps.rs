//! Sums over the passes of a loop: by call site, and by how often it came before in the same pass.

use crate::journal::{Entry, Process, SiteId};

use super::cut::Pass;

/// Beyond this many, calls of a site in one pass are no longer told apart.
const MOST_NTH: u16 = 16;
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
pub struct StepSum {
    pub site: SiteId,
    /// The how manyth call of this site in a pass; 16 stands for all later ones too.
    pub nth: u16,
    pub count: u32,
    pub seconds: f64,
    /// The first of them.
    pub example: u32,
    next: u32,
}

/// Sums of all passes that were added. One is used for many processes, to spare memory.
pub struct Steps {
    pub steps: Vec<StepSum>,
    pub outside_s: f64,
    pub cpu_s: f64,
    /// By site: its first step, and the step last used with the pass that used it.
    first: Vec<u32>,
    last: Vec<(u32, u32)>,
    pass: u32,
}

impl Steps {
    pub fn new(sites: usize) -> Steps {
        Steps {
            steps: Vec::new(),
            outside_s: 0.0,
            cpu_s: 0.0,
            first: vec![NONE; sites],
            last: vec![(0, NONE); sites],
            pass: 0,
        }
    }

    pub fn clear(&mut self) {
        for step in self.steps.drain(..) {
            self.first[step.site as usize] = NONE;
        }
        (self.outside_s, self.cpu_s) = (0.0, 0.0);
    }

    pub fn add(&mut self, process: &Process, pass: &Pass) {
        self.pass += 1;
        let range = pass.first as usize..pass.end as usize;
        let mut free_ns = pass.from_ns;
        let mut outside_ns = 0;
        for (at, entry) in process.entries[range.clone()].iter().enumerate() {
            outside_ns += entry.start_ns.min(pass.to_ns).saturating_sub(free_ns);
            free_ns = free_ns.max(entry.end_ns());
            self.step(entry, pass.first + at as u32);
        }
        outside_ns += pass.to_ns.saturating_sub(free_ns);
        self.outside_s += outside_ns as f64 / 1e9;
        let cpu_s = process.cpu_s.get(range).unwrap_or_default();
        self.cpu_s += cpu_s.iter().copied().map(f64::from).sum::<f64>();
    }

    fn step(&mut self, entry: &Entry, at: u32) {
        let site = entry.site() as usize;
        let (pass, last) = self.last[site];
        let step = if pass != self.pass || last == NONE {
            self.first_step(site, at)
        } else {
            self.step_after(last, at)
        };
        self.last[site] = (self.pass, step);
        let sum = &mut self.steps[step as usize];
        sum.count += 1;
        sum.seconds += entry.seconds();
    }

    fn first_step(&mut self, site: usize, at: u32) -> u32 {
        if self.first[site] == NONE {
            self.first[site] = self.new_step(site as SiteId, 1, at);
        }
        self.first[site]
    }

    fn step_after(&mut self, last: u32, at: u32) -> u32 {
        let StepSum { site, nth, next, .. } = self.steps[last as usize];
        if nth == MOST_NTH {
            return last;
        }
        if next != NONE {
            return next;
        }
        let new = self.new_step(site, nth + 1, at);
        self.steps[last as usize].next = new;
        new
    }

    fn new_step(&mut self, site: SiteId, nth: u16, example: u32) -> u32 {
        self.steps.push(StepSum {
            site,
            nth,
            count: 0,
            seconds: 0.0,
            example,
            next: NONE,
        });
        (self.steps.len() - 1) as u32
    }
}
