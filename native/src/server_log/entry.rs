//! One message of a PostgreSQL server, in whichever of its log formats it was written.

use super::moment::Moment;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    Debug,
    Log,
    Info,
    Notice,
    Warning,
    Error,
    Fatal,
    Panic,
}

impl Severity {
    pub const ALL: [Self; 8] = [
        Self::Debug,
        Self::Log,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Fatal,
        Self::Panic,
    ];

    pub fn of(word: &[u8]) -> Option<Self> {
        Some(match word {
            b"LOG" => Self::Log,
            b"ERROR" => Self::Error,
            b"FATAL" => Self::Fatal,
            b"WARNING" => Self::Warning,
            b"NOTICE" => Self::Notice,
            b"PANIC" => Self::Panic,
            b"INFO" => Self::Info,
            b"DEBUG" | b"DEBUG1" | b"DEBUG2" | b"DEBUG3" | b"DEBUG4" | b"DEBUG5" => Self::Debug,
            _ => return None,
        })
    }

    /// In whatever language the server writes.
    pub fn of_any(word: &[u8]) -> Option<Self> {
        Self::of(word).or_else(|| super::messages::languages::severity(word))
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Debug => "DEBUG",
            Self::Log => "LOG",
            Self::Info => "INFO",
            Self::Notice => "NOTICE",
            Self::Warning => "WARNING",
            Self::Error => "ERROR",
            Self::Fatal => "FATAL",
            Self::Panic => "PANIC",
        }
    }
}

/// What a text that is not there is: empty. Texts over several lines keep their line ends.
#[derive(Debug)]
pub struct Entry<'a> {
    pub moment: Moment,
    pub severity: Severity,
    pub sqlstate: &'a [u8],
    pub database: &'a [u8],
    pub user: &'a [u8],
    pub application: &'a [u8],
    /// The client's address, mostly with its port.
    pub client: &'a [u8],
    /// The number of the process, where nothing tells whose it is and somebody may ask.
    pub process: &'a [u8],
    pub message: &'a [u8],
    pub detail: &'a [u8],
    pub context: &'a [u8],
    pub statement: &'a [u8],
}

impl Entry<'_> {
    pub fn new(moment: Moment, severity: Severity) -> Self {
        Self {
            moment,
            severity,
            sqlstate: b"",
            database: b"",
            user: b"",
            application: b"",
            client: b"",
            process: b"",
            message: b"",
            detail: b"",
            context: b"",
            statement: b"",
        }
    }
}
