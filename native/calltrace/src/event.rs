//! What one line of a trace says, whichever tool wrote it.

/// Bytes of the chunk that a line lies in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    pub start: u32,
    pub len: u32,
}

impl Span {
    pub fn new(start: usize, end: usize) -> Span {
        Span {
            start: start as u32,
            len: end.saturating_sub(start) as u32,
        }
    }

    pub fn of(self, chunk: &[u8]) -> &[u8] {
        let start = self.start as usize;
        chunk.get(start..start + self.len as usize).unwrap_or_default()
    }

    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// A call, from its start to its return, on one line.
    #[default]
    Call,
    /// The start of a call whose return stands on a later line.
    Unfinished,
    /// The return of such a call.
    Resumed,
    /// A call that returned in a new child (truss: "returning as child"); the result is the parent's pid.
    Child,
    /// A call that the process did not return from: `_exit`, a successful `exec` of old tools, killed in it.
    NoReturn,
    Signal,
    /// The process ended by itself; the result is its status.
    Exited,
    /// The process was killed; the name is the signal's.
    Killed,
    /// The tracer took hold of a process; the pid is in `result`.
    Attached,
    /// Detail of the line before it (truss -v, a stack frame); the text is in `remark`.
    More,
}

/// Marks a time that the trace does not give.
pub const NO_TIME: i64 = i64::MIN;
/// Marks a number that the trace does not give.
pub const NO_NUMBER: i64 = i64::MIN;

/// One line of a trace. Spans point into the chunk; times are nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub kind: Kind,
    /// Index in `names::CALLS`; `names::UNKNOWN` when the name is not there.
    pub call: u16,
    /// 0 when the trace names no process.
    pub pid: u32,
    /// Thread within the process (truss); 0 when the trace names none. strace names threads as processes.
    pub thread: u32,
    /// The time stamp as printed; what it counts from is the layout's `clock`.
    pub stamp_ns: i64,
    /// Time since the process's last event (truss -D).
    pub delta_ns: i64,
    /// Time between start and return (strace -T, perf trace).
    pub elapsed_ns: i64,
    /// CPU time in the call (truss -E).
    pub cpu_ns: i64,
    /// The returned value; `NO_NUMBER` when there is none (`?`, an error, a call that did not return).
    pub result: i64,
    pub name: Span,
    /// Between the brackets, without them.
    pub arguments: Span,
    /// Name of the error, `ENOENT`; empty when the call succeeded.
    pub error: Span,
    /// What follows the result: strace's `(in [5])`, truss' second value `[15]`.
    pub remark: Span,
    /// Hash of the call with those arguments that make it the same call when it comes again; see `details`.
    pub site: u64,
    /// First argument when it is a file descriptor; -1 otherwise.
    pub fd: i32,
    /// What the trace itself says the descriptor is (strace -y).
    pub target: Span,
    /// Bytes asked for, of calls that move data.
    pub size: i64,
    /// Position in the file, of calls that name one.
    pub offset: i64,
}

impl Default for Event {
    fn default() -> Event {
        Event {
            kind: Kind::Call,
            call: crate::names::UNKNOWN,
            pid: 0,
            thread: 0,
            stamp_ns: NO_TIME,
            delta_ns: NO_TIME,
            elapsed_ns: NO_TIME,
            cpu_ns: NO_TIME,
            result: NO_NUMBER,
            name: Span::default(),
            arguments: Span::default(),
            error: Span::default(),
            remark: Span::default(),
            site: 0,
            fd: -1,
            target: Span::default(),
            size: NO_NUMBER,
            offset: NO_NUMBER,
        }
    }
}

/// What a parser makes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    Event(Event),
    /// Belongs to the line before it: a truss detail, a stack frame. The span is its text.
    More(Span),
    /// Understood, and of no interest: a header, a blank line, strace's own remarks.
    Nothing,
    /// Not understood: counted under this reason.
    Skip(Reason),
}

/// Why a line was not used. The words are what the user reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    NotTrace,
    CutOff,
    TooLong,
    NotText,
    BadNumber,
    NoStart,
    NoEnd,
}

impl Reason {
    pub fn words(self) -> &'static str {
        match self {
            Reason::NotTrace => "no line of a trace",
            Reason::CutOff => "cut off",
            Reason::TooLong => "longer than 64 KiB",
            Reason::NotText => "binary data",
            Reason::BadNumber => "a number out of range",
            Reason::NoStart => "return of a call whose start is not in the trace",
            Reason::NoEnd => "start of a call whose return is not in the trace",
        }
    }
}
