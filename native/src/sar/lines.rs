//! What `sadf -d` prints: a heading that begins with `# hostname;interval;timestamp`, and fields with semicolons.

use arrow_schema::ArrowError;
use pyo3::Py;

use super::block::{Block, Kind};
use super::local_time::LocalTime;
use super::number::value;
use super::tables::{Moment, Tables};
use super::vocabulary::SarVocabulary;
use super::{Done, Scanner};

const DAY_S: i64 = 86_400;

pub struct Lines {
    vocabulary: Py<SarVocabulary>,
    times: LocalTime,
    block: Option<Block>,
    host: String,
    line: u64,
    values: Vec<f64>,
    /// The text of a time, and its moment.
    stamp: (String, i64),
}

impl Lines {
    pub fn new(vocabulary: Py<SarVocabulary>, times: LocalTime) -> Self {
        Self {
            vocabulary,
            times,
            block: None,
            host: String::new(),
            line: 0,
            values: Vec::new(),
            stamp: (String::new(), 0),
        }
    }

    fn read(&mut self, line: &str, tables: &mut Tables) -> Done {
        if let Some(heading) = line.strip_prefix('#') {
            let columns: Vec<&str> = heading.split(';').skip(3).collect();
            let given = self.vocabulary.get().heading(&columns, &[]);
            self.block = given.map(|given| tables.block(&given)).transpose()?;
            if self.block.is_none() {
                tables.skip(self.line, "no heading that sadf -d prints");
            }
            return Ok(());
        }
        let fields: Vec<&str> = line.split(';').collect();
        let [host, interval, stamp, rest @ ..] = fields.as_slice() else {
            if !line.trim().is_empty() {
                tables.skip(self.line, "no line of sadf -d");
            }
            return Ok(());
        };
        let Some(ts_us) = self.moment(stamp) else {
            tables.skip(self.line, "no time in its third field");
            return Ok(());
        };
        if *host != self.host {
            tables.comes_from(Some(host).filter(|host| !host.is_empty()).copied(), "kernel");
            self.host = host.to_string();
        }
        let moment = tables.moment(ts_us, interval.parse().ok().filter(|&seconds: &f64| seconds > 0.0));
        self.figures(&moment, rest, tables)
    }

    fn figures(&mut self, moment: &Moment, fields: &[&str], tables: &mut Tables) -> Done {
        let first = fields.first().copied().unwrap_or_default();
        if let Some(restart) = first.strip_prefix("LINUX-RESTART") {
            let text = format!("LINUX RESTART {}", restart.trim());
            tables.event(moment, "restart", text.trim_end());
            return Ok(());
        }
        if first.starts_with("COM ") {
            tables.event(moment, "comment", first);
            return Ok(());
        }
        let Some(block) = &self.block else {
            tables.skip(self.line, "no heading above it");
            return Ok(());
        };
        if block.kind == Kind::Ignored {
            return Ok(());
        }
        if !fits(block, fields, &mut self.values) {
            tables.skip(self.line, "does not fit the heading above it");
            return Ok(());
        }
        let item = block.item.map(|item| fields[item]);
        tables.numbered(self.line, moment, block, item, &self.values)
    }

    /// The moment of `2026-11-20 22:58:19 UTC` (without a zone: local), or of seconds since 1970.
    fn moment(&mut self, stamp: &str) -> Option<i64> {
        if stamp == self.stamp.0 {
            return Some(self.stamp.1);
        }
        let found = match stamp.parse::<u32>() {
            Ok(seconds) => Some(i64::from(seconds) * 1_000_000),
            Err(_) => match local_s(stamp) {
                Some(local) if stamp.ends_with(" UTC") => Some(local * 1_000_000),
                Some(local) => Some(self.times.utc_us(local, false)),
                None => None,
            },
        };
        if let Some(moment) = found {
            self.stamp = (stamp.to_string(), moment);
        }
        found
    }
}

/// Takes the figures of a line; whether they are as many as the heading has.
fn fits(block: &Block, fields: &[&str], values: &mut Vec<f64>) -> bool {
    values.clear();
    // `INTR;CPU*`: as many as there are CPUs.
    let open = block
        .figures
        .last()
        .is_some_and(|last| last.as_ref().is_some_and(|last| last.name == "CPU*"));
    if fields.len() < block.figures.len() || (fields.len() > block.figures.len() && !open) {
        return false;
    }
    for (position, field) in fields.iter().enumerate() {
        let figure = block.figures.get(position).map(Option::as_ref);
        values.push(match figure {
            Some(None) => f64::NAN,
            _ => match value(field.as_bytes(), 1.0) {
                Some(value) => value,
                None => return false,
            },
        });
    }
    true
}

/// Seconds since 1970 of a date and time, as if it were UTC.
pub fn local_s(stamp: &str) -> Option<i64> {
    let part = |from: usize, to: usize| stamp.get(from..to)?.parse::<i64>().ok();
    let (year, month, day) = (part(0, 4)?, part(5, 7)?, part(8, 10)?);
    let (hour, minute, second) = (part(11, 13)?, part(14, 16)?, part(17, 19)?);
    let valid = (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second < 61;
    valid.then(|| days(year, month, day) * DAY_S + hour * 3600 + minute * 60 + second)
}

/// Days from 1970-01-01 to a date (H. Hinnant, chrono-Compatible Low-Level Date Algorithms, 2013).
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

impl Scanner for Lines {
    fn feed(&mut self, piece: &[u8], tables: &mut Tables) -> Result<usize, ArrowError> {
        let text = String::from_utf8_lossy(piece);
        for line in text.split_inclusive('\n') {
            self.line += 1;
            match line.strip_suffix('\n') {
                Some(line) => self.read(line.trim_end_matches('\r'), tables)?,
                None => tables.skip(self.line, "the file ends within it"),
            }
        }
        Ok(piece.len())
    }

    fn times(&mut self) -> &mut LocalTime {
        &mut self.times
    }

    fn by_moment(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_to_seconds() {
        assert_eq!(local_s("1970-01-01 00:00:01"), Some(1));
        assert_eq!(local_s("2000-02-29 12:00:00 UTC"), Some(951_825_600));
        assert_eq!(local_s("2026-11-20 22:58:19 UTC"), Some(1_795_215_499));
        assert_eq!(local_s("2026-13-20 22:58:19"), None);
        assert_eq!(local_s("2026-1"), None);
        assert_eq!(local_s("é026-11-20 22:58:19"), None);
    }
}
