//! Reads a log, compressed or not, in chunks of whole lines.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use liblzma::read::XzDecoder;
use memchr::{memchr, memrchr};

/// How much is read at a time: so little that a chunk and its events stay in the processor's cache.
pub const CHUNK_BYTES: usize = 1 << 18;
/// Of a longer line only the beginning is kept; see `is_too_long`.
pub const LONGEST_LINE: usize = 1 << 16;

/// A line that was cut has one byte more than the longest may have, so that nothing else need tell.
pub fn is_too_long(line: &[u8]) -> bool {
    line.len() > LONGEST_LINE
}

/// A log that is being read.
pub struct Input {
    source: Box<dyn Read + Send>,
    /// For messages: nothing when the log is not compressed.
    compression: Option<&'static str>,
    /// The beginning of a line whose end is not read yet.
    begun: Vec<u8>,
    ended: bool,
    failure: Option<io::Error>,
}

impl Input {
    /// Open a file, or standard input for `-`. gzip, zstd and xz are known by how the file begins.
    pub fn open(path: &Path) -> io::Result<Input> {
        if path == Path::new("-") {
            return Input::new(io::stdin());
        }
        Input::new(File::open(path)?)
    }

    pub fn new(mut source: impl Read + Send + 'static) -> io::Result<Input> {
        let mut head = Vec::new();
        source.by_ref().take(6).read_to_end(&mut head)?;
        let compression = compression(&head);
        let whole = io::Cursor::new(head).chain(source);
        let source: Box<dyn Read + Send> = match compression {
            Some("gzip") => Box::new(MultiGzDecoder::new(whole)),
            Some("zstd") => Box::new(zstd::Decoder::new(whole)?),
            Some("xz") => Box::new(XzDecoder::new_multi_decoder(whole)),
            _ => Box::new(whole),
        };
        Ok(Input {
            source,
            compression,
            begun: Vec::new(),
            ended: false,
            failure: None,
        })
    }

    /// Replace what the buffer holds by the next whole lines; false at the end of the log.
    ///
    /// - Only the last chunk may end without a newline, when the log does: its last line may be cut off.
    /// - Lines longer than `LONGEST_LINE` are cut; see `is_too_long`.
    ///
    /// # Errors
    /// A log that cannot be read to its end fails only after everything before that was delivered.
    pub fn next_chunk(&mut self, buffer: &mut Vec<u8>) -> io::Result<bool> {
        loop {
            self.fill(buffer);
            shorten_lines(buffer);
            if self.ended {
                break;
            }
            if let Some(newline) = memrchr(b'\n', buffer) {
                self.begun.extend_from_slice(&buffer[newline + 1..]);
                buffer.truncate(newline + 1);
                break;
            }
            self.begun.append(buffer);
        }
        match self.failure.take() {
            Some(failure) if buffer.is_empty() => Err(failure),
            failure => {
                self.failure = failure;
                Ok(!buffer.is_empty())
            }
        }
    }

    /// Fill the buffer with the line begun and what follows it.
    fn fill(&mut self, buffer: &mut Vec<u8>) {
        let mut filled = self.begun.len();
        buffer.resize(CHUNK_BYTES, 0);
        buffer[..filled].copy_from_slice(&self.begun);
        self.begun.clear();
        while filled < CHUNK_BYTES && !self.ended {
            match self.source.read(&mut buffer[filled..]) {
                Ok(0) => self.ended = true,
                Ok(bytes) => filled += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.ended = true;
                    self.failure = Some(self.explained(&error));
                }
            }
        }
        buffer.truncate(filled);
    }

    fn explained(&self, error: &io::Error) -> io::Error {
        let words = match (self.compression, error.kind()) {
            (Some(name), io::ErrorKind::UnexpectedEof) => format!("the {name} data end too early: {error}"),
            (Some(name), _) => format!("the {name} data are damaged: {error}"),
            (None, _) => error.to_string(),
        };
        io::Error::new(error.kind(), words)
    }
}

fn compression(head: &[u8]) -> Option<&'static str> {
    match head {
        [0x1f, 0x8b, ..] => Some("gzip"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some("zstd"),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some("xz"),
        _ => None,
    }
}

/// Cut lines that are too long, the last one too, which may go on in the next chunk: cut again there, it stays as it is.
fn shorten_lines(buffer: &mut Vec<u8>) {
    const KEPT: usize = LONGEST_LINE + 1;
    let mut start = 0;
    while buffer.len() - start > KEPT {
        if let Some(newline) = memrchr(b'\n', &buffer[start..start + KEPT]) {
            start += newline + 1;
            continue;
        }
        let kept = start + KEPT;
        let end = memchr(b'\n', &buffer[kept..]).map_or(buffer.len(), |newline| kept + newline);
        buffer.drain(kept..end);
        start = (kept + 1).min(buffer.len());
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn read_all(source: impl Read + Send + 'static) -> (Vec<u8>, usize, io::Result<()>) {
        let mut input = Input::new(source).unwrap();
        let (mut whole, mut buffer, mut chunks) = (Vec::new(), Vec::new(), 0);
        loop {
            match input.next_chunk(&mut buffer) {
                Ok(true) => {
                    chunks += 1;
                    assert!(buffer.len() <= CHUNK_BYTES);
                    whole.extend_from_slice(&buffer);
                }
                Ok(false) => return (whole, chunks, Ok(())),
                Err(error) => return (whole, chunks, Err(error)),
            }
        }
    }

    fn log(lines: usize) -> Vec<u8> {
        (0..lines)
            .flat_map(|line| format!("getpid() = {line}\n").into_bytes())
            .collect()
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn xz(text: &[u8]) -> Vec<u8> {
        let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        zstd::encode_all(text, 1).unwrap()
    }

    /// Gives a few bytes at a time, as a pipe may.
    struct Drops(io::Cursor<Vec<u8>>);

    impl Read for Drops {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let most = buffer.len().min(1000);
            self.0.read(&mut buffer[..most])
        }
    }

    #[test]
    fn chunks_end_at_newlines_and_nothing_is_lost() {
        let text = log(200_000);
        let mut input = Input::new(Drops(io::Cursor::new(text.clone()))).unwrap();
        let (mut whole, mut buffer, mut chunks) = (Vec::new(), Vec::new(), 0);
        while input.next_chunk(&mut buffer).unwrap() {
            assert_eq!(buffer.last(), Some(&b'\n'));
            whole.extend_from_slice(&buffer);
            chunks += 1;
        }
        assert!(whole == text);
        assert_eq!(chunks, text.len() / CHUNK_BYTES + 1);
    }

    #[test]
    fn files_are_opened_and_missing_ones_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.zst");
        std::fs::write(&path, zstd(b"getpid() = 1\n")).unwrap();
        let mut buffer = b"what the last file held".to_vec();
        assert!(Input::open(&path).unwrap().next_chunk(&mut buffer).unwrap());
        assert_eq!(buffer, b"getpid() = 1\n");
        assert!(Input::open(&folder.path().join("none")).is_err());
    }

    #[test]
    fn compressed_logs_are_read_with_all_their_members() {
        let text = log(100_000);
        let twice = [text.as_slice(), text.as_slice()].concat();
        for compress in [gzip, xz, zstd] {
            let (whole, _, end) = read_all(io::Cursor::new(compress(&text).repeat(2)));
            assert!(whole == twice);
            end.unwrap();
        }
    }

    #[test]
    fn what_comes_before_the_break_of_a_compressed_log_is_kept() {
        let text = log(300_000);
        for (compress, name) in [(gzip as fn(&[u8]) -> Vec<u8>, "gzip"), (xz, "xz"), (zstd, "zstd")] {
            let mut packed = compress(&text);
            packed.truncate(packed.len() * 2 / 3);
            let (whole, _, end) = read_all(io::Cursor::new(packed));
            assert!(
                whole.len() > text.len() / 4 && text.starts_with(&whole),
                "{name}: {}",
                whole.len()
            );
            let words = end.unwrap_err().to_string();
            assert!(words.starts_with(&format!("the {name} data end too early")), "{words}");
        }
    }

    #[test]
    fn damaged_compressed_data_are_named() {
        let mut packed = gzip(&log(100_000));
        let middle = packed.len() / 2;
        packed[middle..middle + 64].fill(0xff);
        let words = read_all(io::Cursor::new(packed)).2.unwrap_err().to_string();
        assert!(words.starts_with("the gzip data are damaged"), "{words}");
    }

    #[test]
    fn a_last_line_without_newline_is_delivered_as_it_is() {
        let (whole, chunks, _) = read_all(&b"getpid() = 1\ngetpi"[..]);
        assert_eq!((whole.as_slice(), chunks), (&b"getpid() = 1\ngetpi"[..], 1));
        assert_eq!(read_all(&b""[..]).1, 0);
        assert_eq!(read_all(&b"\x1f"[..]).0, b"\x1f");
    }

    #[test]
    fn a_hundred_megabytes_on_one_line_take_no_memory() {
        let long = io::Read::take(io::repeat(b'x'), 100_000_000);
        let source = (&b"first\n"[..]).chain(long).chain(&b"\nlast\n"[..]);
        let (whole, _, _) = read_all(source);
        let lines: Vec<&[u8]> = whole.split(|&byte| byte == b'\n').collect();
        assert_eq!(lines.len(), 4);
        assert_eq!(
            (lines[0], lines[1].len(), lines[2]),
            (&b"first"[..], LONGEST_LINE + 1, &b"last"[..])
        );
        assert!(is_too_long(lines[1]));
    }

    #[test]
    fn only_lines_over_the_limit_are_cut() {
        for (length, is_cut) in [
            (LONGEST_LINE, false),
            (LONGEST_LINE + 1, true),
            (LONGEST_LINE * 3, true),
        ] {
            let line = vec![b'x'; length];
            let text = [b"a\n", line.as_slice(), b"\nb\n", line.as_slice()].concat();
            let whole = read_all(io::Cursor::new(text)).0;
            let lines: Vec<&[u8]> = whole.split(|&byte| byte == b'\n').collect();
            assert_eq!(lines.len(), 4, "{length}");
            assert_eq!((lines[0], lines[2]), (&b"a"[..], &b"b"[..]));
            assert_eq!((is_too_long(lines[1]), is_too_long(lines[3])), (is_cut, is_cut));
            assert_eq!(lines[1].len(), length.min(LONGEST_LINE + 1));
        }
    }
}
