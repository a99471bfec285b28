//! What a process did with its time, after the microstates of Solaris' `prstat -m`.

use crate::host::interval::{Interval, tidy};

/// Sums since the start of a process, over its threads; what is not known is nothing.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
pub struct Usage {
    /// Time on a CPU by the scheduler's clock; without it the ticks below give the time.
    pub run_ns: Option<u64>,
    pub user_ticks: u64,
    pub system_ticks: u64,
    pub run_wait_ns: Option<u64>,
    pub io_wait_ns: Option<u64>,
    pub memory_wait_ns: Option<u64>,
    pub vcsw: Option<u64>,
    pub icsw: Option<u64>,
    pub minor_faults: u64,
    pub major_faults: u64,
    pub read_bytes: Option<u64>,
    pub write_bytes: Option<u64>,
}

impl Usage {
    /// What a process that just started had used before: nothing of what is known now.
    pub fn at_birth(&self) -> Self {
        let zero = |known: Option<u64>| known.map(|_| 0);
        Self {
            run_ns: zero(self.run_ns),
            run_wait_ns: zero(self.run_wait_ns),
            io_wait_ns: zero(self.io_wait_ns),
            memory_wait_ns: zero(self.memory_wait_ns),
            vcsw: zero(self.vcsw),
            icsw: zero(self.icsw),
            read_bytes: zero(self.read_bytes),
            write_bytes: zero(self.write_bytes),
            ..Self::default()
        }
    }
}

/// Shares of the interval in percent of one thread's time: `threads` times 100 make the whole.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
pub struct Microstates {
    pub user: Option<f64>,
    pub system: Option<f64>,
    pub run_wait: Option<f64>,
    pub io_wait: Option<f64>,
    pub memory_wait: Option<f64>,
    pub sleep: Option<f64>,
}

impl Microstates {
    pub fn between(before: &Usage, now: &Usage, threads: u64, tick_ns: u64, interval: &Interval) -> Self {
        let whole = threads.max(1) as f64 * 100.0;
        let (user, system) = match cpu_ns(before, now, tick_ns) {
            Some((user, system)) => (interval.share(user), interval.share(system)),
            None => (None, None),
        };
        // A wait is counted when it ends, so it can be longer than the interval in which it did.
        let wait = |before: Option<u64>, now: Option<u64>| {
            let waited = now?.checked_sub(before?)?;
            Some(interval.share(waited as f64)?.min(whole))
        };
        let run_wait = wait(before.run_wait_ns, now.run_wait_ns);
        let io_wait = wait(before.io_wait_ns, now.io_wait_ns);
        let memory_wait = wait(before.memory_wait_ns, now.memory_wait_ns);
        let named = [system, run_wait, io_wait, memory_wait].iter().flatten().sum::<f64>();
        Self {
            user,
            system,
            run_wait,
            io_wait,
            memory_wait,
            sleep: user.map(|user| tidy((whole - user - named).max(0.0))),
        }
    }
}

/// Nanoseconds in user and in kernel mode. The scheduler's clock gives the sum; the ticks of the interval, or of the whole
/// life while the interval has none, say how to divide it, as the kernel itself does (cputime_adjust in kernel/sched/cputime.c).
fn cpu_ns(before: &Usage, now: &Usage, tick_ns: u64) -> Option<(f64, f64)> {
    let mut user = now.user_ticks.saturating_sub(before.user_ticks) as f64;
    let mut system = now.system_ticks.saturating_sub(before.system_ticks) as f64;
    let run_ns = match (before.run_ns, now.run_ns) {
        (Some(before), Some(now)) => now.checked_sub(before)? as f64,
        (None, None) => (user + system) * tick_ns as f64,
        _ => return None,
    };
    if user + system == 0.0 {
        (user, system) = (now.user_ticks as f64, now.system_ticks as f64);
    }
    // A process that never met a tick: the half is as good a guess as any, and the sum stays right.
    let share = if user + system > 0.0 {
        user / (user + system)
    } else {
        0.5
    };
    Some((run_ns * share, run_ns * (1.0 - share)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK_NS: u64 = 10_000_000;
    const SECOND: Interval = Interval {
        ts_us: 0,
        seconds: Some(1.0),
    };

    fn usage(run_ms: u64, user_ticks: u64, system_ticks: u64, wait_ms: u64) -> Usage {
        Usage {
            run_ns: Some(run_ms * 1_000_000),
            user_ticks,
            system_ticks,
            run_wait_ns: Some(wait_ms * 1_000_000),
            ..Usage::default()
        }
    }

    #[test]
    fn an_idle_process_sleeps_exactly() {
        let idle = usage(5, 3, 1, 7);
        let states = Microstates::between(&idle, &idle, 1, TICK_NS, &SECOND);
        assert_eq!(
            (states.user, states.system, states.sleep),
            (Some(0.0), Some(0.0), Some(100.0))
        );
        assert_eq!((states.run_wait, states.io_wait), (Some(0.0), None));
    }

    #[test]
    fn ticks_divide_what_the_scheduler_counted() {
        let states = Microstates::between(&usage(0, 0, 0, 0), &usage(504, 30, 20, 100), 1, TICK_NS, &SECOND);
        assert_eq!((states.user, states.system), (Some(30.24), Some(20.16)));
        assert_eq!((states.run_wait, states.sleep), (Some(10.0), Some(39.6)));
    }

    #[test]
    fn without_ticks_in_the_interval_the_life_divides() {
        let states = Microstates::between(&usage(100, 9, 3, 0), &usage(104, 9, 3, 0), 1, TICK_NS, &SECOND);
        assert_eq!((states.user, states.system), (Some(0.3), Some(0.1)));
    }

    #[test]
    fn a_wait_longer_than_the_interval_fills_it() {
        let states = Microstates::between(&usage(0, 0, 0, 0), &usage(0, 0, 0, 5000), 1, TICK_NS, &SECOND);
        assert_eq!((states.run_wait, states.sleep), (Some(100.0), Some(0.0)));
    }

    #[test]
    fn a_counter_that_went_down_gives_no_share() {
        let states = Microstates::between(&usage(10, 1, 1, 10), &usage(9, 1, 1, 9), 1, TICK_NS, &SECOND);
        assert_eq!((states.user, states.run_wait, states.sleep), (None, None, None));
    }

    #[test]
    fn a_newborn_had_used_nothing() {
        let now = usage(500, 50, 0, 10);
        let states = Microstates::between(&now.at_birth(), &now, 1, TICK_NS, &SECOND);
        assert_eq!((states.user, states.run_wait), (Some(50.0), Some(1.0)));
        assert_eq!(now.at_birth().io_wait_ns, None);
    }
}
