//! Checksums of a Parquet file, so that a damaged one is never believed.
//!
//! ```text
//! PAR1  row groups  checks  footer  footer length (4)  PAR1
//! checks:  for each row group: end (8)  rows (4)  crc32 (4)
//!          first ts (8)  last ts (8)  crc32 from the footer on (4)  number of row groups (4)  crc32 of the above (4)  mark (8)
//! ```
//!
//! Why so:
//! - Parquet's own checksums cover what is inside a page. Of single flipped bits in sealed files 16 % gave other rows, among
//!   them flips in the headers of pages and in the footer, which those leave open; DuckDB does not look at them at all.
//! - Any reader of Parquet takes the file as it is: it finds the footer from the end and the pages by their offsets, and
//!   never sees what lies between.
//! - One checksum for each row group, because that is the least that can be left out of a file and the rest still be read.
//! - The times of the first and the last row stand here too: which files an interval needs is known from a file's tail.
//! - The footer holds `KEY` as well, so that a file whose checks were wiped out is not taken for one that never had any.
//!
//! Numbers are little-endian.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;

use parquet::errors::Result;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData};
use parquet::file::statistics::Statistics;

/// The key under which the footer says that the file has checks.
pub const KEY: &str = "doctord.checks";

const PARQUET: &[u8; 4] = b"PAR1";
const MARK: &[u8; 8] = b"\xD0\xC7\x0DCHECK";
const GROUP: usize = 16;
const FIXED: usize = 36;
const ENDS: u64 = 8; // length of the footer, and the magic
const TAIL: u64 = 64 << 10;
const CHUNK: usize = 256 << 10;

/// What the checks of a file say.
#[derive(Debug, PartialEq)]
pub struct Checks {
    /// Times of the first and the last row, in microseconds; none where the file does not tell.
    pub span: Option<(i64, i64)>,
    groups: Vec<Group>,
}

#[derive(Debug, PartialEq)]
struct Group {
    end: u64,
    rows: u32,
    crc: u32,
}

impl Checks {
    /// Rows of each row group.
    pub fn rows(&self) -> Vec<u32> {
        self.groups.iter().map(|group| group.rows).collect()
    }

    /// Numbers of the row groups whose bytes are not those that were written.
    pub fn damaged(&self, file: &File) -> io::Result<Vec<usize>> {
        let mut start = PARQUET.len() as u64;
        let mut damaged = Vec::new();
        for (number, group) in self.groups.iter().enumerate() {
            if crc_of(file, start, group.end)? != group.crc {
                damaged.push(number);
            }
            start = group.end;
        }
        Ok(damaged)
    }
}

/// Puts checks into a whole Parquet file, before its footer. The file must be open for reading and writing; nothing is
/// synced.
pub fn add(file: &File) -> Result<()> {
    let metadata = ParquetMetaDataReader::new().parse_and_finish(file)?;
    let (footer_start, footer) = footer_of(file)?;
    let checks = Checks {
        span: span(&metadata),
        groups: groups(file, &metadata, footer_start)?,
    };
    let mut tail = encode(&checks, crc32fast::hash(&footer));
    tail.extend(footer);
    file.write_all_at(&tail, footer_start)?;
    Ok(())
}

/// The checks of a file; none when it was written without. An `InvalidData` error says what is damaged.
pub fn read(file: &File) -> io::Result<Option<Checks>> {
    let mut start = [0; PARQUET.len()];
    let (footer_start, footer) = footer_of(file)?;
    file.read_exact_at(&mut start, 0)?;
    let before = footer_start.min(TAIL);
    let mut tail = vec![0; before as usize];
    file.read_exact_at(&mut tail, footer_start - before)?;
    if !tail.ends_with(MARK) {
        let told = memchr::memmem::find(&footer, KEY.as_bytes()).is_some();
        return match told || memchr::memmem::find(&tail, MARK).is_some() {
            true => Err(damaged("its checksums are damaged")),
            false => Ok(None),
        };
    }
    let (checks, footer_crc) = decode(file, footer_start)?.ok_or_else(|| damaged("its checksums are damaged"))?;
    if &start != PARQUET || crc32fast::hash(&footer) != footer_crc {
        return Err(damaged("its footer is damaged"));
    }
    Ok(Some(checks))
}

fn damaged(text: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, text)
}

/// Where the footer begins, and its bytes to the end of the file.
fn footer_of(file: &File) -> io::Result<(u64, Vec<u8>)> {
    let size = file.metadata()?.len();
    let cut = || damaged("truncated or not Parquet");
    let mut ends = [0; ENDS as usize];
    file.read_exact_at(&mut ends, size.checked_sub(ENDS).ok_or_else(cut)?)?;
    let length = u64::from(u32::from_le_bytes([ends[0], ends[1], ends[2], ends[3]]));
    let start = size
        .checked_sub(ENDS + length)
        .filter(|start| *start >= PARQUET.len() as u64);
    let start = start.filter(|_| &ends[4..] == PARQUET).ok_or_else(cut)?;
    let mut footer = vec![0; (size - start) as usize];
    file.read_exact_at(&mut footer, start)?;
    Ok((start, footer))
}

fn groups(file: &File, metadata: &ParquetMetaData, footer_start: u64) -> io::Result<Vec<Group>> {
    let starts = metadata.row_groups().iter().skip(1).map(start_of);
    let ends = starts.chain([footer_start]);
    let mut start = PARQUET.len() as u64;
    let mut groups = Vec::new();
    for (row_group, end) in metadata.row_groups().iter().zip(ends) {
        groups.push(Group {
            end,
            rows: row_group.num_rows() as u32,
            crc: crc_of(file, start, end)?,
        });
        start = end;
    }
    Ok(groups)
}

fn start_of(row_group: &RowGroupMetaData) -> u64 {
    row_group
        .columns()
        .iter()
        .map(|column| column.byte_range().0)
        .min()
        .unwrap_or_default()
}

fn span(metadata: &ParquetMetaData) -> Option<(i64, i64)> {
    let spans = metadata.row_groups().iter().map(|row_group| {
        let ts = row_group
            .columns()
            .iter()
            .find(|column| column.column_path().string() == "ts")?;
        match ts.statistics()? {
            Statistics::Int64(times) => Some((*times.min_opt()?, *times.max_opt()?)),
            _ => None,
        }
    });
    let spans: Vec<_> = spans.collect::<Option<_>>()?;
    Some((
        spans.iter().map(|span| span.0).min()?,
        spans.iter().map(|span| span.1).max()?,
    ))
}

fn crc_of(file: &File, start: u64, end: u64) -> io::Result<u32> {
    let mut hasher = crc32fast::Hasher::new();
    let mut chunk = vec![0; CHUNK];
    let mut offset = start;
    while offset < end {
        let part = &mut chunk[..(end - offset).min(CHUNK as u64) as usize];
        file.read_exact_at(part, offset)?;
        hasher.update(part);
        offset += part.len() as u64;
    }
    Ok(hasher.finalize())
}

fn encode(checks: &Checks, footer_crc: u32) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(FIXED + checks.groups.len() * GROUP);
    for group in &checks.groups {
        bytes.extend(group.end.to_le_bytes());
        bytes.extend(group.rows.to_le_bytes());
        bytes.extend(group.crc.to_le_bytes());
    }
    let (first, last) = checks.span.unwrap_or((i64::MAX, i64::MIN));
    bytes.extend(first.to_le_bytes());
    bytes.extend(last.to_le_bytes());
    bytes.extend(footer_crc.to_le_bytes());
    bytes.extend((checks.groups.len() as u32).to_le_bytes());
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes.extend(MARK);
    bytes
}

/// The checks that end where the footer begins, and the checksum of the footer; none when they are damaged.
fn decode(file: &File, end: u64) -> io::Result<Option<(Checks, u32)>> {
    let mut fixed = [0; FIXED];
    let Some(fixed_start) = end.checked_sub(FIXED as u64) else {
        return Ok(None);
    };
    file.read_exact_at(&mut fixed, fixed_start)?;
    let word = |at: usize| u32::from_le_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
    let time = |at: usize| i64::from(word(at)) | i64::from(word(at + 4)) << 32;
    let count = u64::from(word(20));
    let Some(start) = fixed_start.checked_sub(count * GROUP as u64) else {
        return Ok(None);
    };
    let mut entries = vec![0; (fixed_start - start) as usize];
    file.read_exact_at(&mut entries, start)?;
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&entries);
    hasher.update(&fixed[..24]);
    let groups: Vec<Group> = entries.chunks_exact(GROUP).map(group).collect();
    if hasher.finalize() != word(24) || groups.last().is_some_and(|group| group.end != start) {
        return Ok(None);
    }
    let span = Some((time(0), time(8))).filter(|(first, last)| first <= last);
    Ok(Some((Checks { span, groups }, word(16))))
}

fn group(bytes: &[u8]) -> Group {
    let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    Group {
        end: u64::from(word(0)) | u64::from(word(4)) << 32,
        rows: word(8),
        crc: word(12),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use parquet::data_type::Int64Type;
    use parquet::file::metadata::KeyValue;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    fn checked(key: &str) -> (tempfile::TempDir, Vec<u8>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let schema = Arc::new(parse_message_type("message table { required int64 ts; }").unwrap());
        let properties = WriterProperties::builder()
            .set_key_value_metadata(Some(vec![KeyValue::new(key.to_string(), "1".to_string())]))
            .build();
        let mut writer = SerializedFileWriter::new(File::create(&path).unwrap(), schema, Arc::new(properties)).unwrap();
        for times in (0..100).collect::<Vec<_>>().chunks(40) {
            let mut row_group = writer.next_row_group().unwrap();
            let mut column = row_group.next_column().unwrap().unwrap();
            column.typed::<Int64Type>().write_batch(times, None, None).unwrap();
            column.close().unwrap();
            row_group.close().unwrap();
        }
        writer.close().unwrap();
        let file = File::options().read(true).write(true).open(&path).unwrap();
        assert_eq!(read(&file).is_ok(), key != KEY, "without checks so far");
        add(&file).unwrap();
        (folder, std::fs::read(path).unwrap())
    }

    fn reread(folder: &tempfile::TempDir, bytes: &[u8]) -> io::Result<Option<(Checks, Vec<usize>)>> {
        let path = folder.path().join("damaged");
        std::fs::write(&path, bytes).unwrap();
        let file = File::open(path).unwrap();
        Ok(match read(&file)? {
            Some(checks) => {
                let damaged = checks.damaged(&file)?;
                Some((checks, damaged))
            }
            None => None,
        })
    }

    #[test]
    fn checks_tell_rows_and_times_and_parquet_is_read_as_before() {
        let (folder, bytes) = checked(KEY);
        let (checks, damaged) = reread(&folder, &bytes).unwrap().unwrap();
        assert_eq!(
            (checks.rows(), checks.span, damaged),
            (vec![40, 40, 20], Some((0, 99)), vec![])
        );
        let metadata = ParquetMetaDataReader::new()
            .parse_and_finish(&File::open(folder.path().join("f")).unwrap())
            .unwrap();
        assert_eq!(metadata.file_metadata().num_rows(), 100);
    }

    #[test]
    fn no_flipped_bit_goes_unnoticed() {
        let (folder, bytes) = checked(KEY);
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            match reread(&folder, &flipped) {
                Err(error) => assert_eq!(error.kind(), ErrorKind::InvalidData, "flipped at {at}"),
                Ok(Some((_, damaged))) => assert_eq!(damaged.len(), 1, "flipped at {at}"),
                Ok(None) => panic!("flipped at {at}: taken for a file without checks"),
            }
        }
    }

    #[test]
    fn a_file_cut_anywhere_is_noticed() {
        let (folder, bytes) = checked(KEY);
        for length in 0..bytes.len() {
            assert!(reread(&folder, &bytes[..length]).is_err(), "cut at {length}");
        }
    }
}
