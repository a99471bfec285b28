//! How long connections wait at UNIX sockets: who stands in the queues, looked at often while somebody does.
//!
//! The kernel tells no age of such a connection, but the inode of the client's socket. Between the look that sees it first
//! and the one that misses it lies its wait: each is late by half the time between two looks on average, so their
//! difference is not. Shorter waits than two looks are not told.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::owner::Owners;
use super::sock_diag::{SockDiag, UnixSocket};
use super::{Listener, delay_of};
use crate::host::interval::clock;

const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
/// Shorter waits fall between two looks.
const LEAST: Duration = Duration::from_millis(100);
/// Nobody waited at this many looks: enough looked.
const EMPTY_LOOKS: u32 = 40;

/// Since when somebody waits; of those who were there at the first look that is not known.
struct Wait {
    since: Instant,
    is_known: bool,
}

/// Who waits at one socket, and the waits that have ended.
#[derive(Default)]
struct Queue {
    waiting: HashMap<u32, Wait>,
    ended: Duration,
    ends: u32,
    is_served: bool,
}

impl Queue {
    fn take(&mut self, now: Instant, seen: &[u32], is_first_look: bool) {
        let before = self.waiting.len();
        self.waiting.retain(|inode, wait| {
            let stays = seen.contains(inode);
            if !stays && wait.is_known {
                self.ended += now - wait.since;
                self.ends += 1;
            }
            stays
        });
        self.is_served |= self.waiting.len() < before;
        for inode in seen {
            self.waiting.entry(*inode).or_insert(Wait {
                since: now,
                is_known: !is_first_look,
            });
        }
    }

    /// The mean of the waits that ended since it was last asked; where none did, by the ages of those who wait, once they
    /// are known or where nobody is served at all.
    fn delay_s(&mut self, now: Instant) -> Option<f64> {
        let (ended, ends) = (std::mem::take(&mut self.ended), std::mem::take(&mut self.ends));
        let waits = self.waiting.values();
        let delay_s = match ends {
            0 if self.is_served && waits.clone().any(|wait| !wait.is_known) => None,
            0 => delay_of(&waits.map(|wait| (now - wait.since).as_secs_f64()).collect::<Vec<_>>()),
            _ => Some((ended / ends).as_secs_f64()),
        };
        delay_s.filter(|delay_s| *delay_s >= LEAST.as_secs_f64())
    }
}

/// The queues by the inode of the socket.
#[derive(Default)]
struct Queues {
    of: HashMap<u32, Queue>,
    is_looked_at: bool,
    is_over: bool,
    /// CPU time of those who looked, nanoseconds.
    cpu_ns: i64,
}

impl Queues {
    fn take(&mut self, now: Instant, sockets: &[UnixSocket]) {
        for socket in sockets {
            if !socket.waiting.is_empty() || self.of.contains_key(&socket.inode) {
                let queue = self.of.entry(socket.inode).or_default();
                queue.take(now, &socket.waiting, !self.is_looked_at);
            }
        }
    }
}

#[derive(Default)]
pub struct UnixQueues {
    shared: Arc<(Mutex<Queues>, Condvar)>,
    looking: Option<JoinHandle<()>>,
    known: HashSet<u32>,
}

impl UnixQueues {
    /// The sockets at which somebody waits or has waited before.
    pub fn sample(&mut self, diag: &mut SockDiag, owners: &mut Owners) -> Vec<Listener> {
        let Ok(sockets) = diag.unix_listeners() else {
            return Vec::new(); // no module unix_diag
        };
        let now = Instant::now();
        let mut queues = held(&self.shared.0);
        queues.take(now, &sockets);
        queues
            .of
            .retain(|inode, _| sockets.iter().any(|socket| socket.inode == *inode));
        self.known.extend(
            sockets
                .iter()
                .filter(|socket| socket.accept_queue > 0)
                .map(|socket| socket.inode),
        );
        let mut told = Vec::new();
        for socket in sockets.iter().filter(|socket| self.known.contains(&socket.inode)) {
            let accept_delay_s = queues.of.get_mut(&socket.inode).and_then(|queue| queue.delay_s(now));
            told.push(Listener {
                name: socket.name.clone(),
                accept_queue: socket.accept_queue,
                backlog: Some(socket.backlog),
                accept_delay_s,
                drops: None,
                pid: owners.of_slow(Some(socket.inode), accept_delay_s),
            });
        }
        if told.iter().any(|one| one.accept_queue > 0) && !queues.is_looked_at {
            let shared = Arc::clone(&self.shared);
            // Refused where threads are limited (RLIMIT_NPROC, a pids control group): the next sample tries again.
            let looking = std::thread::Builder::new().spawn(move || look(&shared));
            queues.is_looked_at = looking.is_ok();
            self.looking = looking.ok();
        }
        drop(queues);
        told
    }

    /// CPU time that looking has taken so far, beside the caller's own thread.
    pub fn cpu_ns(&self) -> i64 {
        held(&self.shared.0).cpu_ns
    }
}

impl Drop for UnixQueues {
    fn drop(&mut self) {
        held(&self.shared.0).is_over = true;
        self.shared.1.notify_all();
        if let Some(looking) = self.looking.take() {
            let _ = looking.join();
        }
    }
}

/// Looks until nobody has waited for a while.
fn look(shared: &(Mutex<Queues>, Condvar)) {
    let mut diag = SockDiag::open().ok();
    let (mut empty_looks, mut cpu_before_ns) = (0, 0);
    let mut queues = held(&shared.0);
    while empty_looks < EMPTY_LOOKS && !queues.is_over {
        let waited = shared.1.wait_timeout(queues, BETWEEN_LOOKS);
        drop(waited);
        let Some(sockets) = diag.as_mut().and_then(|diag| diag.unix_listeners().ok()) else {
            queues = held(&shared.0);
            break;
        };
        queues = held(&shared.0);
        queues.take(Instant::now(), &sockets);
        let cpu_ns = clock(libc::CLOCK_THREAD_CPUTIME_ID).unwrap_or(cpu_before_ns);
        queues.cpu_ns += cpu_ns - std::mem::replace(&mut cpu_before_ns, cpu_ns);
        let is_empty = sockets.iter().all(|socket| socket.waiting.is_empty());
        empty_looks = if is_empty { empty_looks + 1 } else { 0 };
    }
    queues.is_looked_at = false;
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_lies_between_the_first_look_and_the_one_that_misses_it() {
        let mut queue = Queue::default();
        let ms = |delay_s: Option<f64>| delay_s.map(|delay_s| (delay_s * 1e3).round());
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        queue.take(at(0), &[1, 2], true);
        assert_eq!(ms(queue.delay_s(at(150))), Some(200.0)); // by the age of those who were there, as nobody is served
        queue.take(at(200), &[2, 3], false);
        assert_eq!(queue.delay_s(at(250)), None); // since when 2 waits is not known
        queue.take(at(300), &[3, 4], false);
        assert_eq!(ms(queue.delay_s(at(350))), Some(200.0)); // 3 by its age
        queue.take(at(600), &[5], false);
        assert_eq!(ms(queue.delay_s(at(600))), Some(350.0)); // 3 and 4 as they ended
        assert_eq!(queue.delay_s(at(620)), None); // too short to be told
    }
}
