//! A segment: the append-only file that a recorder writes, and that survives `kill -9` and a full disk.
//!
//! ```text
//! magic (8)  frame  frame  frame ...
//! frame:  mark (4)  crc32 (4)  length (4)  rows (4)  name length (1)  table name  payload (length)
//! ```
//!
//! Why so:
//! - One file for all tables, because a sync then costs one write and one fdatasync, whatever the number of tables.
//! - A frame holds what one table gathered between two syncs (5 s by default). Writing each sample by itself would
//!   sync five times as often and compress worse; gathering longer would lose more.
//! - The payload is an Arrow IPC stream of its own, schema and all, with LZ4 buffers. A schema kept once per file would
//!   save about a tenth, and the loss of that one frame would cost every row of its table.
//! - The checksum covers everything behind it, header included, so that a damaged length is not believed.
//! - The mark lets a reader find the next sound frame after a damaged one by looking, not by trusting a length.
//! - Nothing is ever rewritten. After a failed write the file is cut back to the last sound frame, which is also where a
//!   reader stops after a crash.
//! - No index and no footer: a segment lives for an hour and is then sealed into Parquet, which has both.
//!
//! Numbers are little-endian. Readers may read while the writer writes; they may then see a torn last frame.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Cursor, ErrorKind, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use arrow_array::RecordBatch;
use arrow_ipc::CompressionType;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow_schema::ArrowError;

use super::precision::rounded;
use crate::arrays::concat_batches;

const MAGIC: &[u8; 8] = b"DOCTORD\x01"; // the last byte is the version of the format
const MARK: &[u8; 4] = b"\xD0\xC7\x0DF";
const HEADER: u64 = 17;
const FILE_MODE: u32 = 0o640;

/// Appends batches to one segment. Rows wait in memory until `sync` has put them on disk; the first sync makes the file.
pub struct SegmentWriter {
    path: PathBuf,
    waiting: Mutex<Waiting>,
    output: Mutex<Option<Output>>,
}

#[derive(Default)]
struct Waiting {
    tables: BTreeMap<String, Vec<RecordBatch>>,
    rows: usize,
}

struct Output {
    file: File,
    sound: u64, // bytes that are known to be on disk
}

impl Output {
    /// Creates the file, which must not exist, with mode 0640.
    fn create(path: &Path) -> io::Result<Self> {
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(FILE_MODE)
            .open(path)?;
        let made = file
            .write_all(MAGIC)
            .and_then(|()| file.sync_all())
            .and_then(|()| sync_folder_of(path));
        if let Err(error) = made {
            std::fs::remove_file(path)?;
            return Err(error);
        }
        let sound = MAGIC.len() as u64;
        Ok(Self { file, sound })
    }

    fn write(&mut self, frames: &[u8]) -> io::Result<()> {
        let written = self
            .file
            .write_all_at(frames, self.sound)
            .and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            self.file.set_len(self.sound)?;
            return Err(error);
        }
        self.sound += frames.len() as u64;
        Ok(())
    }

    /// Whether the file can still be found: its folder may have been removed, or moved, while it was written.
    fn is_at(&self, path: &Path) -> io::Result<bool> {
        let own = self.file.metadata()?;
        match std::fs::metadata(path) {
            Ok(found) => Ok((found.dev(), found.ino()) == (own.dev(), own.ino())),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok(true), // what is open can be written all the same
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Puts the entry of a new or renamed file on disk.
pub fn sync_folder_of(path: &Path) -> io::Result<()> {
    path.parent()
        .map_or(Ok(()), |folder| File::open(folder).and_then(|f| f.sync_all()))
}

impl SegmentWriter {
    /// A segment whose file, which must not exist, is made by the first sync of rows.
    pub fn new(path: PathBuf) -> Self {
        Self {
            path,
            waiting: Mutex::default(),
            output: Mutex::default(),
        }
    }

    /// Keeps rows for the next sync; returns how many wait by now. All batches of a table must agree in their schema.
    pub fn append(&self, table: &str, rows: &RecordBatch) -> Result<usize, ArrowError> {
        let mut waiting = lock(&self.waiting);
        let batches = waiting.tables.entry(table.to_string()).or_default();
        if batches.first().is_some_and(|first| first.schema() != rows.schema()) {
            return Err(ArrowError::SchemaError(format!(
                "rows of table {table} do not have the columns of the rows before them"
            )));
        }
        batches.push(rows.clone());
        waiting.rows += rows.num_rows();
        Ok(waiting.rows)
    }

    /// Puts the waiting rows on disk and returns the size of the file, 0 while there is none. Rows that could not be
    /// written are gone, and the file ends with its last sound frame. A `NotFound` error: the file itself is gone, and all
    /// that was ever written to it.
    pub fn sync(&self) -> io::Result<u64> {
        let waiting = std::mem::take(&mut *lock(&self.waiting));
        let frames = encode(waiting).map_err(io::Error::other)?;
        let output = &mut *lock(&self.output);
        let output = match output {
            Some(output) => output,
            None if frames.is_empty() => return Ok(0),
            None => output.insert(Output::create(&self.path)?),
        };
        if !frames.is_empty() {
            output.write(&frames)?;
        }
        match output.is_at(&self.path)? {
            true => Ok(output.sound),
            false => Err(io::Error::from_raw_os_error(libc::ENOENT)),
        }
    }
}

// A thread that panicked while it held the lock leaves whole values behind: both are changed in one step at the end.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn encode(waiting: Waiting) -> Result<Vec<u8>, ArrowError> {
    let mut frames = Vec::new();
    for (table, batches) in waiting.tables {
        let rows = rounded(&concat_batches(&batches)?)?;
        if rows.num_rows() > 0 {
            encode_frame(&table, &rows, &mut frames)?;
        }
    }
    Ok(frames)
}

fn encode_frame(table: &str, rows: &RecordBatch, frames: &mut Vec<u8>) -> Result<(), ArrowError> {
    let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME))?;
    let mut stream = StreamWriter::try_new_with_options(Vec::new(), &rows.schema(), options)?;
    stream.write(rows)?;
    let payload = stream.into_inner()?;
    let too_large = |_| ArrowError::InvalidArgumentError(format!("too many rows of table {table} between two syncs"));
    let name_length = u8::try_from(table.len()).map_err(too_large)?;
    let mut checked = Vec::with_capacity(payload.len() + 32);
    checked.extend(u32::try_from(payload.len()).map_err(too_large)?.to_le_bytes());
    checked.extend(u32::try_from(rows.num_rows()).map_err(too_large)?.to_le_bytes());
    checked.push(name_length);
    checked.extend(table.as_bytes());
    checked.extend(payload);
    frames.extend(MARK);
    frames.extend(crc32fast::hash(&checked).to_le_bytes());
    frames.extend(checked);
    Ok(())
}

/// Where the rows of one frame lie.
#[derive(Clone, Debug)]
pub struct Frame {
    pub table: String,
    pub rows: usize,
    offset: u64,
    length: usize,
    end: u64,
}

/// A part of a segment that could not be read.
#[derive(Debug, PartialEq)]
pub struct Problem {
    pub offset: u64,
    /// `torn`: the file ends within a frame, as after a crash; `damaged`: anything else.
    pub reason: &'static str,
    pub bytes: u64,
}

/// Opens a file to be read. What is none, as a pipe, which could keep a reader waiting for ever, is an `InvalidData` error.
pub fn open_file(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(ErrorKind::InvalidData, "not a regular file")),
    }
}

/// Finds the sound frames of a segment, whatever lies between them. A file that is no segment is an `InvalidData` error.
pub fn scan(file: &File) -> io::Result<(Vec<Frame>, Vec<Problem>)> {
    let size = file.metadata()?.len();
    let (mut frames, mut problems) = (Vec::new(), Vec::new());
    let mut offset = (MAGIC.len() as u64).min(size);
    if let Err(error) = check_magic(file, size)? {
        offset = next_frame(file, 0, size)?.ok_or(error)?;
        problems.push(Problem {
            offset: 0,
            reason: "damaged",
            bytes: offset,
        });
    }
    while offset < size {
        match frame_at(file, offset, size)? {
            Ok(frame) => {
                offset = frame.end;
                frames.push(frame);
            }
            Err(reason) => {
                let next = next_frame(file, offset + 1, size)?;
                problems.push(Problem {
                    offset,
                    reason: if next.is_none() { reason } else { "damaged" },
                    bytes: next.unwrap_or(size) - offset,
                });
                offset = next.unwrap_or(size);
            }
        }
    }
    Ok((frames, problems))
}

fn check_magic(file: &File, size: u64) -> io::Result<Result<(), io::Error>> {
    let mut start = [0; MAGIC.len()];
    let start = &mut start[..MAGIC.len().min(size as usize)];
    file.read_exact_at(start, 0)?;
    if start == &MAGIC[..start.len()] {
        return Ok(Ok(())); // shorter than the magic: torn at birth
    }
    let message = match start[..7] == MAGIC[..7] {
        true => format!("a segment of version {}, which this doctord does not read", start[7]),
        false => "not a segment of doctord".to_string(),
    };
    Ok(Err(io::Error::new(ErrorKind::InvalidData, message)))
}

fn frame_at(file: &File, offset: u64, size: u64) -> io::Result<Result<Frame, &'static str>> {
    if size - offset < HEADER {
        return Ok(Err("torn"));
    }
    let mut header = [0; HEADER as usize];
    file.read_exact_at(&mut header, offset)?;
    let word = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    let (crc, length, rows, name_length) = (word(4), word(8) as usize, word(12) as usize, header[16] as usize);
    let end = offset + HEADER + (name_length + length) as u64;
    if &header[..4] != MARK {
        return Ok(Err("damaged"));
    }
    if end > size {
        return Ok(Err("torn"));
    }
    let mut body = vec![0; name_length + length];
    file.read_exact_at(&mut body, offset + HEADER)?;
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&header[8..]);
    hasher.update(&body);
    // A copy: the name cut out of the body would hold on to the room of the whole frame as long as it is known.
    Ok(match String::from_utf8(body[..name_length].to_vec()) {
        Ok(table) if hasher.finalize() == crc => Ok(Frame {
            table,
            rows,
            offset: offset + HEADER + name_length as u64,
            length,
            end,
        }),
        _ => Err("damaged"),
    })
}

fn next_frame(file: &File, mut offset: u64, size: u64) -> io::Result<Option<u64>> {
    const STEP: u64 = 64 << 10;
    let mut chunk = vec![0; STEP as usize + MARK.len() - 1]; // overlaps, so that a mark across two chunks is seen
    while offset < size {
        let length = (size - offset).min(chunk.len() as u64) as usize;
        file.read_exact_at(&mut chunk[..length], offset)?;
        for (at, window) in chunk[..length].windows(MARK.len()).enumerate() {
            if window == MARK && frame_at(file, offset + at as u64, size)?.is_ok() {
                return Ok(Some(offset + at as u64));
            }
        }
        offset += STEP;
    }
    Ok(None)
}

/// The compressed payload of a frame.
pub fn payload(file: &File, frame: &Frame) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; frame.length];
    file.read_exact_at(&mut bytes, frame.offset)?;
    Ok(bytes)
}

/// The rows of a payload; `columns` (positions) leaves the others compressed.
pub fn decode(payload: &[u8], columns: Option<Vec<usize>>) -> Result<RecordBatch, ArrowError> {
    let mut stream = StreamReader::try_new(Cursor::new(payload), columns)?;
    stream
        .next()
        .unwrap_or_else(|| Err(ArrowError::IpcError("a frame without rows".to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::TableBuilder;

    fn rows(table: &str, values: std::ops::Range<i64>) -> RecordBatch {
        let layout = vec![("value".to_string(), "i64".to_string())];
        let mut builder = TableBuilder::new(table, &layout).unwrap();
        for value in values {
            builder.i64(0, Some(value));
            builder.end_row();
        }
        builder.finish().unwrap().unwrap()
    }

    fn three_syncs(path: &Path) -> Vec<u64> {
        let writer = SegmentWriter::new(path.to_path_buf());
        let mut ends = vec![MAGIC.len() as u64];
        for sync in 0..3 {
            writer.append("a", &rows("a", sync * 10..sync * 10 + 5)).unwrap();
            writer.append("a", &rows("a", sync * 10 + 5..sync * 10 + 10)).unwrap();
            ends.push(writer.sync().unwrap());
        }
        ends
    }

    fn read(path: &Path) -> (usize, Vec<Problem>) {
        let file = File::open(path).unwrap();
        let (frames, problems) = scan(&file).unwrap();
        let rows = frames
            .iter()
            .map(|f| decode(&payload(&file, f).unwrap(), None).unwrap().num_rows())
            .sum();
        (rows, problems)
    }

    #[test]
    fn a_tail_torn_at_any_byte_costs_the_last_frame_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let ends = three_syncs(&path);
        let whole = std::fs::read(&path).unwrap();
        for cut in ends[2]..ends[3] {
            std::fs::write(&path, &whole[..cut as usize]).unwrap();
            let (rows, problems) = read(&path);
            assert_eq!(rows, 20, "cut at {cut}");
            assert_eq!(problems.len(), usize::from(cut > ends[2]));
            assert!(problems.iter().all(|p| p.reason == "torn" && p.offset == ends[2]));
        }
    }

    #[test]
    fn a_flipped_bit_costs_its_frame_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let ends = three_syncs(&path);
        let whole = std::fs::read(&path).unwrap();
        for at in ends[1]..ends[2] {
            let mut flipped = whole.clone();
            flipped[at as usize] ^= 1 << (at % 8);
            std::fs::write(&path, &flipped).unwrap();
            let (rows, problems) = read(&path);
            assert_eq!(rows, 20, "flipped at {at}");
            let [problem] = problems.as_slice() else {
                panic!("flipped at {at}: {problems:?}")
            };
            assert_eq!((problem.offset, problem.bytes), (ends[1], ends[2] - ends[1]));
            assert_eq!(problem.reason, "damaged");
        }
    }

    #[test]
    fn a_foreign_file_is_refused_and_a_newborn_one_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        std::fs::write(&path, "#!/bin/sh\nexit 0\n").unwrap();
        assert_eq!(
            scan(&File::open(&path).unwrap()).unwrap_err().kind(),
            ErrorKind::InvalidData
        );
        std::fs::write(&path, &MAGIC[..3]).unwrap();
        assert_eq!(read(&path), (0, vec![]));
    }

    #[test]
    fn a_flipped_bit_in_the_magic_costs_no_frame() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        three_syncs(&path);
        let whole = std::fs::read(&path).unwrap();
        for at in 0..MAGIC.len() {
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << (at % 8);
            std::fs::write(&path, &flipped).unwrap();
            let (rows, problems) = read(&path);
            assert_eq!((rows, problems.len()), (30, 1), "flipped at {at}");
        }
    }

    #[test]
    fn a_segment_that_was_removed_or_moved_is_noticed() {
        for is_moved in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("s");
            let writer = SegmentWriter::new(path.clone());
            assert_eq!(writer.sync().unwrap(), 0);
            assert!(!path.exists(), "no rows, no file");
            writer.append("a", &rows("a", 0..1)).unwrap();
            writer.sync().unwrap();
            match is_moved {
                true => std::fs::rename(&path, folder.path().join("elsewhere")).unwrap(),
                false => std::fs::remove_file(&path).unwrap(),
            }
            assert_eq!(writer.sync().unwrap_err().kind(), ErrorKind::NotFound);
        }
    }

    #[test]
    fn a_pipe_is_no_segment_and_keeps_nobody_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let name = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
        // SAFETY: a name that ends with a zero byte, and lives longer than the call.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        assert_eq!(open_file(&path).unwrap_err().kind(), ErrorKind::InvalidData);
    }

    #[test]
    fn rows_with_other_columns_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let writer = SegmentWriter::new(folder.path().join("s"));
        writer.append("a", &rows("a", 0..1)).unwrap();
        let layout = vec![("other".to_string(), "f64".to_string())];
        let mut builder = TableBuilder::new("a", &layout).unwrap();
        builder.end_row();
        assert!(writer.append("a", &builder.finish().unwrap().unwrap()).is_err());
    }
}
