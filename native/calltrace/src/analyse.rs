//! From the files of a trace to the document: what they are, how they are read, and which analyses they allow.

use std::io;
use std::path::{Path, PathBuf};

use crate::detect::{Detected, detect};
use crate::digest::{Digest, MOST_DETAIL};
use crate::document::{self, Reading, Trace};
use crate::input::Input;
use crate::layout::Layout;
use crate::pipeline::{self, Source};

#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The files of one trace, `-` for standard input.
    pub paths: Vec<PathBuf>,
    pub threads: usize,
    /// Calls to keep in detail; `MOST_DETAIL` when null.
    pub most_detail: Option<u64>,
    /// Sum calls by the stacks that the trace holds (strace -k).
    pub stacks: bool,
}

/// Why there is no document.
#[derive(Debug)]
pub enum Problem {
    Io(PathBuf, io::Error),
    Refused { message: String, hint: String },
}

/// Told the bytes read so far before each chunk; an error from it ends the reading.
pub type Watch<'a> = dyn FnMut(u64) -> io::Result<()> + Send + 'a;

/// No more than this is read of a file that is no trace of single calls.
const LONGEST_SUMMARY: usize = 64 << 20;

/// Analyse the files of one trace, or one summary, or one file of histograms.
pub fn analyse(request: &Request, watch: &mut Watch) -> Result<Trace, Problem> {
    let mut reader = Reader { bytes: 0, watch };
    let mut traced: Option<Traced> = None;
    for path in &in_order_of_time(&request.paths)? {
        let opened = reader.open(path)?;
        match detect(&opened.head) {
            Detected::Trace(layout) => {
                let traced = traced.get_or_insert_with(|| Traced::new(layout, request));
                traced.read(path, layout, opened, &mut reader, request.threads)?;
            }
            Detected::Summary(_) => {
                return document::of_totals(&reader.rest(path, opened)?, names_of(std::slice::from_ref(path)))
                    .ok_or_else(|| no_trace(path, Detected::Unknown));
            }
            Detected::Histograms => {
                return Ok(document::of_histograms(
                    &reader.rest(path, opened)?,
                    names_of(std::slice::from_ref(path)),
                ));
            }
            other => return Err(no_trace(path, other)),
        }
    }
    let Some(mut traced) = traced else {
        return Err(refused("no file to read", "name a log of strace, truss or perf trace"));
    };
    traced.digest.finish();
    let reading = Reading {
        files: names_of(&request.paths),
        bytes: reader.bytes,
        damage: traced.damage,
        threads: request.threads,
    };
    Ok(document::of_calls(&traced.digest, reading))
}

/// The files of a trace (strace -ff) by their first stamp: what times count from is the first of all.
fn in_order_of_time(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Problem> {
    if paths.len() < 2 {
        return Ok(paths.to_vec());
    }
    let mut reader = Reader {
        bytes: 0,
        watch: &mut |_| Ok(()),
    };
    let mut stamped = Vec::with_capacity(paths.len());
    for path in paths {
        let head = reader.open(path)?.head;
        match detect(&head) {
            Detected::Trace(layout) => stamped.push((pipeline::first_stamp_ns(layout, head), path.clone())),
            Detected::Empty => {} // a process that made no call
            _ => stamped.push((None, path.clone())),
        }
    }
    stamped.sort();
    Ok(stamped.into_iter().map(|(_, path)| path).collect())
}

/// A log whose first chunk was read, to see what it is.
struct Opened {
    input: Input,
    head: Vec<u8>,
}

struct Reader<'a, 'b> {
    bytes: u64,
    watch: &'a mut Watch<'b>,
}

impl Reader<'_, '_> {
    fn open(&mut self, path: &Path) -> Result<Opened, Problem> {
        let failed = |error| Problem::Io(path.to_owned(), error);
        let mut input = Input::open(path).map_err(failed)?;
        let mut head = Vec::new();
        input.next_chunk(&mut head).map_err(failed)?;
        Ok(Opened { input, head })
    }

    /// The whole of a short file: a summary, or histograms.
    fn rest(&mut self, path: &Path, opened: Opened) -> Result<Vec<u8>, Problem> {
        let Opened {
            mut input,
            head: mut text,
        } = opened;
        let mut chunk = Vec::new();
        while text.len() < LONGEST_SUMMARY
            && input
                .next_chunk(&mut chunk)
                .map_err(|error| Problem::Io(path.to_owned(), error))?
        {
            text.extend_from_slice(&chunk);
        }
        Ok(text)
    }
}

/// Why a file cannot be analysed.
fn no_trace(path: &Path, detected: Detected) -> Problem {
    let name = path.display();
    match detected {
        Detected::Empty => refused(&format!("{name} is empty"), "did the traced process make any call?"),
        Detected::Binary => refused(
            &format!("{name} holds binary data"),
            "a trace is text: record one with strace -f -ttt -T -o FILE",
        ),
        _ => refused(
            &format!("{name} is no call trace: no line at its beginning is a call"),
            "doctord trace reads what strace, truss and perf trace write",
        ),
    }
}

/// A trace that is being read, file by file.
struct Traced {
    digest: Digest,
    /// How the reading of a file ended early, in words.
    damage: Vec<String>,
    files: usize,
}

impl Traced {
    fn new(layout: Layout, request: &Request) -> Traced {
        let mut digest = Digest::new(layout, request.most_detail.unwrap_or(MOST_DETAIL));
        digest.stacks.wanted = request.stacks;
        Traced {
            digest,
            damage: Vec::new(),
            files: 0,
        }
    }

    fn read(
        &mut self,
        path: &Path,
        layout: Layout,
        opened: Opened,
        reader: &mut Reader,
        threads: usize,
    ) -> Result<(), Problem> {
        if layout.tool != self.digest.journal.layout.tool {
            let message = format!(
                "{} is of {}, the files before it of {}",
                path.display(),
                layout.tool.name(),
                self.digest.journal.layout.tool.name()
            );
            return Err(refused(&message, "analyse traces of different tools one by one"));
        }
        self.digest.begin_file(layout, pid_in_name(path));
        self.files += 1;
        let mut chunks = Chunks {
            head: Some(opened.head),
            input: opened.input,
            reader,
        };
        match pipeline::run(&mut chunks, layout, &mut self.digest, threads) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(Problem::Io(path.to_owned(), error)),
            // What could be read counts.
            Err(error) => {
                self.damage.push(format!("{}: {error}", path.display()));
                Ok(())
            }
        }
    }
}

/// The chunks of a log, the first of which was read already.
struct Chunks<'a, 'b, 'c> {
    head: Option<Vec<u8>>,
    input: Input,
    reader: &'a mut Reader<'b, 'c>,
}

impl Source for Chunks<'_, '_, '_> {
    fn next_chunk(&mut self, chunk: &mut Vec<u8>) -> io::Result<bool> {
        (self.reader.watch)(self.reader.bytes)?;
        let more = match self.head.take() {
            Some(head) => {
                *chunk = head;
                !chunk.is_empty()
            }
            None => self.input.next_chunk(chunk)?,
        };
        self.reader.bytes += chunk.len() as u64;
        Ok(more)
    }
}

/// strace -ff writes `NAME.PID`; 0 when the name does not end so.
fn pid_in_name(path: &Path) -> u32 {
    path.extension()
        .and_then(|end| end.to_str())
        .and_then(|end| end.parse().ok())
        .unwrap_or(0)
}

fn names_of(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| path.display().to_string()).collect()
}

fn refused(message: &str, hint: &str) -> Problem {
    Problem::Refused {
        message: message.to_owned(),
        hint: hint.to_owned(),
    }
}
