//! The slow query log of MariaDB, MySQL and Percona Server: a header of `# Key: value`, then the statement.

use std::ops::Range;

use crate::scrub::{Dialect, fingerprint, scrub};
use crate::server_log::figures::{self as f, Figure};
use crate::server_log::lines::{self, Part};
use crate::server_log::moment::Moment;
use crate::server_log::tally::Use;
use crate::server_log::text::{digits, millionths, until};

/// What is added up by statement. A yes counts one; times are in seconds.
const FIGURES: [(&[u8], Figure); 19] = [
    (b"Rows_examined", f::ROWS_EXAMINED),
    (b"Lock_time", f::LOCK_TIME),
    (b"Bytes_sent", f::BYTES_SENT),
    (b"Tmp_tables", f::TMP_TABLES),
    (b"Tmp_disk_tables", f::TMP_DISK_TABLES),
    (b"Tmp_table_sizes", f::TMP_TABLE_SIZES),
    (b"Full_scan", f::FULL_SCAN),
    (b"Full_join", f::FULL_JOIN),
    (b"Tmp_table", f::TMP_TABLE),
    (b"Tmp_table_on_disk", f::TMP_TABLE_ON_DISK),
    (b"Filesort", f::FILESORT),
    (b"Filesort_on_disk", f::FILESORT_ON_DISK),
    (b"Merge_passes", f::MERGE_PASSES),
    (b"InnoDB_IO_r_ops", f::INNODB_READS),
    (b"InnoDB_IO_r_bytes", f::INNODB_READ_BYTES),
    (b"InnoDB_IO_r_wait", f::INNODB_READ_WAIT),
    (b"InnoDB_rec_lock_wait", f::INNODB_LOCK_WAIT),
    (b"InnoDB_queue_wait", f::INNODB_QUEUE_WAIT),
    (b"Pages_updated", f::PAGES_UPDATED),
];

/// Whether a line begins a statement's header.
pub fn is_start(line: &[u8]) -> bool {
    line.starts_with(b"# User@Host: ")
}

#[derive(Default)]
struct Query<'a> {
    database: &'a [u8],
    begun_us: Option<i64>,
    elapsed_us: Option<i64>,
    rows: Option<i64>,
    pages_read: Option<i64>,
    pages_accessed: Option<i64>,
    failed: bool,
    sums: Vec<(Figure, i64)>,
    text: Range<usize>,
}

/// Reads whole statements.
pub fn read(bytes: &[u8], part: &mut Part) {
    let mut open: Option<Query> = None;
    for (begin, line) in lines::of(bytes) {
        if is_start(line) || is_time(line) || is_banner(line) {
            close(open.take(), bytes, part);
            open = is_start(line).then(Query::default);
        } else if let Some(query) = &mut open {
            query.take(begin, line);
        } else if !line.trim_ascii().is_empty() {
            part.lines += 1;
            part.foreign();
            continue;
        }
        part.lines += 1;
    }
    close(open, bytes, part);
}

/// What a server writes when it opens the log.
fn is_banner(line: &[u8]) -> bool {
    line.ends_with(b"started with:")
        || line.starts_with(b"Tcp port: ")
        || line.ends_with(b"Argument") && line.starts_with(b"Time")
}

/// `# Time: 261121  9:53:03`, where the second is a new one; in a statement the same may be a comment.
fn is_time(line: &[u8]) -> bool {
    line.strip_prefix(b"# Time: ")
        .and_then(<[u8]>::first)
        .is_some_and(u8::is_ascii_digit)
}

impl<'a> Query<'a> {
    fn take(&mut self, begin: usize, line: &'a [u8]) {
        if self.begun_us.is_some() {
            if self.text.is_empty() {
                self.text.start = begin;
            }
            self.text.end = begin + line.len();
        } else if let Some(stamp) = line.strip_prefix(b"SET timestamp=") {
            self.begun_us = millionths(stamp);
        } else if let Some(name) = line.strip_prefix(b"use ") {
            self.database = name.strip_suffix(b";").unwrap_or(name).trim_ascii();
            self.database = self.database.strip_prefix(b"`").unwrap_or(self.database);
            self.database = self.database.strip_suffix(b"`").unwrap_or(self.database);
        } else if line.starts_with(b"# ") && !line.starts_with(b"# explain:") {
            self.header(&line[2..]);
        }
    }

    /// `Query_time: 0.1  Lock_time: 0.0 Rows_sent: 1`; what has no value is followed by the next key.
    fn header(&mut self, line: &'a [u8]) {
        let mut key: &[u8] = b"";
        for word in line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()) {
            match word.strip_suffix(b":") {
                Some(name) => key = name,
                None => self.field(std::mem::take(&mut key), word),
            }
        }
    }

    fn field(&mut self, key: &[u8], value: &'a [u8]) {
        match key {
            b"Schema" => self.database = value,
            b"Query_time" => self.elapsed_us = millionths(value),
            b"Rows_sent" | b"Rows_affected" => {
                self.rows = digits(value).map(|rows| rows.saturating_add(self.rows.unwrap_or(0)));
            }
            b"Pages_read" => self.pages_read = digits(value),
            b"Pages_accessed" => self.pages_accessed = digits(value),
            b"Errno" | b"Last_errno" => self.failed = digits(value).is_some_and(|number| number > 0),
            _ => {}
        }
        let figure = FIGURES.iter().find(|(name, _)| *name == key).map(|(_, figure)| *figure);
        if let Some((figure, sum)) = figure.zip(amount(value, figure.is_some_and(|figure| figure.unit == "s_per_s"))) {
            self.sums.push((figure, sum));
        }
    }
}

fn amount(value: &[u8], is_time: bool) -> Option<i64> {
    match value {
        b"Yes" => Some(1),
        b"No" => Some(0),
        _ if is_time => millionths(value),
        _ => digits(value),
    }
}

fn close(query: Option<Query>, bytes: &[u8], part: &mut Part) {
    let Some(query) = query else { return };
    let Some((begun_us, elapsed_us)) = query.begun_us.zip(query.elapsed_us) else {
        return part.skip("a statement without its time: neither Query_time nor SET timestamp");
    };
    let moment = Moment {
        local_us: begun_us.saturating_add(elapsed_us),
        zone: 0,
    };
    part.tally.cover(moment);
    part.tally.duration(moment, elapsed_us);
    let text = &bytes[query.text.clone()];
    let mut scratch = std::mem::take(&mut part.scratch);
    match text.strip_prefix(b"# administrator command") {
        Some(command) => scratch = [b"administrator command", until(command, b';'), b";"].concat(),
        None => scrub(text, Dialect::MySql, &mut scratch),
    }
    let used = Use {
        calls: 1,
        elapsed_us: Some(elapsed_us),
        rows: query.rows,
        read_blocks: query.pages_read,
        hit_blocks: query
            .pages_accessed
            .zip(query.pages_read)
            .map(|(all, read)| (all - read).max(0)),
        ..Use::default()
    };
    part.tally.statement(moment, query.database, &scratch, &used);
    let id = format!("{:016x}", fingerprint(&scratch));
    for (figure, sum) in &query.sums {
        if *sum > 0 || *figure == f::ROWS_EXAMINED || *figure == f::LOCK_TIME {
            part.tally.add(moment, *figure, id.as_bytes(), *sum);
        }
    }
    if query.failed {
        part.tally.add(moment, f::STATEMENTS_FAILED, id.as_bytes(), 1);
    }
    part.scratch = scratch;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_by_its_keys() {
        let mut query = Query::default();
        query.take(0, b"# Thread_id: 5  Schema:   QC_hit: No");
        query.take(
            0,
            b"# Query_time: 0.000627  Lock_time: 0.000175  Rows_sent: 2  Rows_examined: 3000",
        );
        query.take(0, b"# Full_scan: Yes  Full_join: No");
        query.take(0, b"use `shop`;");
        assert_eq!(
            (query.database, query.elapsed_us, query.rows),
            (&b"shop"[..], Some(627), Some(2))
        );
        let sums = [
            (f::LOCK_TIME, 175),
            (f::ROWS_EXAMINED, 3000),
            (f::FULL_SCAN, 1),
            (f::FULL_JOIN, 0),
        ];
        assert_eq!(query.sums, sums);
    }
}
