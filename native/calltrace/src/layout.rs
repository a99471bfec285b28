//! How a trace is laid out: which tool wrote it, with which columns. Found once, from its first lines.

/// What the time stamps count from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// Lines have no time stamp.
    #[default]
    None,
    /// Seconds since 1970 (strace -ttt).
    Epoch,
    /// Time of day, which wraps at midnight (strace -t, -tt).
    Day,
    /// Seconds since the trace began (truss -d, perf trace).
    Start,
    /// Seconds since the line before (strace -r).
    Line,
}

impl Clock {
    /// As the document has it; null without stamps.
    pub fn words(self) -> Option<&'static str> {
        match self {
            Clock::None => None,
            Clock::Epoch => Some("epoch"),
            Clock::Day => Some("time of day"),
            Clock::Start => Some("since start"),
            Clock::Line => Some("since last line"),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tool {
    #[default]
    Strace,
    Truss,
    PerfTrace,
}

impl Tool {
    pub fn name(self) -> &'static str {
        match self {
            Tool::Strace => "strace",
            Tool::Truss => "truss",
            Tool::PerfTrace => "perf trace",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    pub tool: Tool,
    pub clock: Clock,
    /// Lines begin with the process: `123 `, `[pid 123] `, `123: `, `123/1: `.
    pub has_pid: bool,
    /// truss: a delta since the process's last event (-D) stands on each line.
    pub has_delta: bool,
    /// truss: the CPU time of the call (-E) stands on each line.
    pub has_cpu: bool,
    /// The time stamp is that of the return, not of the start (truss).
    pub stamped_at_return: bool,
}
