//! The host's own clock, by what the kernel knows of it (adjtimex(2)): whether somebody keeps it right, and how wrong it may be.

/// The clock's state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// Nobody has set it right lately: no NTP or PTP service runs, or it finds no server.
    pub is_unsynchronised: bool,
    /// The kernel's bound on the error; it grows by the second while nobody sets the clock.
    pub max_error_s: f64,
}

/// Nothing where the kernel refuses to tell, as in some containers.
pub fn read() -> Option<Clock> {
    // SAFETY: timex is plain numbers, for which zero is a value.
    let mut told: libc::timex = unsafe { std::mem::zeroed() };
    // SAFETY: without modes adjtimex only fills the struct.
    let state = unsafe { libc::adjtimex(&raw mut told) };
    (state >= 0).then(|| Clock {
        is_unsynchronised: state == libc::TIME_ERROR || told.status & libc::STA_UNSYNC != 0,
        max_error_s: told.maxerror as f64 / 1e6,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_tells_a_bound() {
        if let Some(clock) = read() {
            // NTP_PHASE_LIMIT: an unsynchronised clock is at most so wrong, as the kernel counts.
            assert!((0.0..=16.1).contains(&clock.max_error_s), "{clock:?}");
        }
    }
}
