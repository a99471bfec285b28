//! Histograms as text: DTrace's quantize, lquantize and llquantize, SystemTap's hist_log and hist_linear, bpftrace's hist
//! and lhist, those of the bcc tools.

use crate::part::part;

part! {
    /// A distribution that a tool printed, in its own unit.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Histogram {
        /// What was counted: the aggregation's keys, or the map's name with its keys; empty when the text does not say.
        pub key: String,
        /// As the text has it: `usecs`; null when it does not say.
        pub unit: Option<String>,
        /// How the values are spread.
        pub buckets: Vec<Values>,
    }
}

part! {
    /// Values from `low` to below `high`; null is without end.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Values {
        /// From here; null is without end.
        pub low: Option<f64>,
        /// To below here; null is without end.
        pub high: Option<f64>,
        /// How many.
        pub count: u64,
    }
}

/// Which values a row counts.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Label {
    Below(f64),
    /// DTrace: from here to where the next row begins.
    From(f64),
    AtLeast(f64),
    /// SystemTap: above the step that begins here.
    Above(f64),
    Between(f64, f64),
}

/// All histograms of a text, in order.
pub fn read(text: &[u8]) -> Vec<Histogram> {
    read_telling(text).0
}

/// All histograms of a text, and the numbers (from 1) of lines that are no part of one.
pub fn read_telling(text: &[u8]) -> (Vec<Histogram>, Vec<usize>) {
    let mut reader = Reader::default();
    for line in text.split(|byte| *byte == b'\n') {
        reader.number += 1;
        match std::str::from_utf8(line) {
            Ok(line) => reader.take(line.trim()),
            Err(_) => reader.unread.push(reader.number),
        }
    }
    reader.close();
    reader.forget();
    (reader.histograms, reader.unread)
}

#[derive(Default)]
struct Reader {
    histograms: Vec<Histogram>,
    open: Option<Histogram>,
    rows: Vec<(Label, u64)>,
    has_elisions: bool,
    /// Lines since the last blank one, with their numbers: keys, when a heading follows.
    before: Vec<(usize, String)>,
    number: usize,
    unread: Vec<usize>,
}

impl Reader {
    fn take(&mut self, line: &str) {
        if self.open.is_some()
            && let Some(row) = row(line)
        {
            self.rows.push(row);
            return;
        }
        if self.open.is_some() && line == ELISION {
            self.has_elisions = true;
            return;
        }
        if let Some(mut histogram) = heading(line).or_else(|| map(line)) {
            self.close();
            if !line.starts_with('@') {
                histogram.key = self.keys();
            }
            self.before.clear();
            self.open = Some(histogram);
        } else if line.is_empty() {
            self.forget();
        } else {
            self.close();
            self.before.push((self.number, line.to_owned()));
            const MOST_KEYS: usize = 8;
            if self.before.len() > MOST_KEYS {
                self.unread.push(self.before.remove(0).0);
            }
        }
    }

    fn keys(&self) -> String {
        let lines = self.before.iter().map(|(_, line)| line.as_str());
        lines.filter(|line| !is_remark(line)).collect::<Vec<_>>().join(" ")
    }

    /// No heading followed: what stands there is no key.
    fn forget(&mut self) {
        let lines = self.before.drain(..).filter(|(_, line)| !is_remark(line));
        self.unread.extend(lines.map(|(number, _)| number));
    }

    fn close(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        let has_elisions = std::mem::take(&mut self.has_elisions);
        if let Some(mut histogram) = self.open.take()
            && !rows.is_empty()
        {
            histogram.buckets = buckets(&rows, has_elisions);
            self.histograms.push(histogram);
        }
    }
}

/// SystemTap leaves rows without a count out, and says so.
const ELISION: &str = "~";

/// `value  ------------- Distribution ------------- count` (DTrace), `usecs  : count  distribution` (bcc),
/// `value |-------------------------------------------------- count` (SystemTap).
fn heading(line: &str) -> Option<Histogram> {
    let mut words = line.split_whitespace();
    let unit = match line.split_once(" : count ") {
        Some((unit, rest)) if rest.trim() == "distribution" => Some(unit.trim().to_owned()),
        _ if is_of_systemtap(line) => None,
        _ if words.next() == Some("value") && words.nth(1) == Some("Distribution") => None,
        _ => return None,
    };
    Some(Histogram {
        unit,
        ..Histogram::default()
    })
}

fn is_of_systemtap(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("value").map(str::trim_start) else {
        return false;
    };
    rest.starts_with("|---") && rest.split_whitespace().nth(1) == Some("count")
}

/// Lines before a histogram that are no keys of it: what the tools say of themselves, and `CPU ID FUNCTION:NAME` of a probe.
fn is_remark(line: &str) -> bool {
    const BEGINNINGS: [&str; 5] = ["^C", "Tracing ", "dtrace: ", "Attaching ", "CPU "];
    let mut words = line.split_whitespace();
    let mut is_number = || {
        words
            .next()
            .is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let is_probe = is_number() && is_number() && words.next().is_some_and(|word| word.contains(':'));
    is_probe || line.contains("Ctrl-C") || BEGINNINGS.iter().any(|beginning| line.starts_with(beginning))
}

/// `@usecs[postgres, 3]:` (bpftrace). The unit is the map's name, or what stands behind its last underscore.
fn map(line: &str) -> Option<Histogram> {
    const UNITS: [&str; 9] = ["ns", "us", "ms", "s", "nsecs", "usecs", "msecs", "secs", "bytes"];
    let key = line.strip_prefix('@')?.strip_suffix(':')?;
    let name = key.split('[').next()?;
    let unit = name.rsplit('_').next().filter(|unit| UNITS.contains(unit));
    Some(Histogram {
        key: key.to_owned(),
        unit: unit.map(str::to_owned),
        ..Histogram::default()
    })
}

/// A row: `2048 |@@@@ 12`, `[1K, 2K)  12 |@@@ |`, `16 -> 31 : 12 |*** |`.
fn row(line: &str) -> Option<(Label, u64)> {
    let (left, right) = line.split_once('|')?;
    if let Some((label, count)) = left.split_once(" : ") {
        return Some((inclusive(label)?, count.trim().parse().ok()?));
    }
    if left.starts_with(['[', '(']) {
        let end = left.find([')', ']'])?;
        return Some((interval(&left[..=end])?, left[end + 1..].trim().parse().ok()?));
    }
    let count = right.trim_start_matches(['@', '*', ' ', '\t']);
    Some((edge(left.trim())?, count.trim().parse().ok()?))
}

/// `< 0`, `12`, `>= 100`; SystemTap's `> 90` is what is above the step that begins at 90.
fn edge(label: &str) -> Option<Label> {
    if let Some(value) = label.strip_prefix("<") {
        return number(value).map(Label::Below);
    }
    if let Some(value) = label.strip_prefix(">=") {
        return number(value).map(Label::AtLeast);
    }
    match label.strip_prefix(">") {
        Some(value) => number(value).map(Label::Above),
        None => number(label).map(Label::From),
    }
}

/// `16 -> 31`, or `12` of a linear one: whole numbers, the last one included.
fn inclusive(label: &str) -> Option<Label> {
    let (low, high) = label.split_once("->").unwrap_or((label, label));
    Some(Label::Between(number(low)?, number(high)? + 1.0))
}

/// `[1K, 2K)`, `[0]`, `(..., 0)`, `[100, ...)`
fn interval(label: &str) -> Option<Label> {
    let inside = &label[1..label.len() - 1];
    let Some((low, high)) = inside.split_once(',') else {
        return number(inside).map(|value| Label::Between(value, value + 1.0));
    };
    match (low.trim(), high.trim()) {
        ("...", high) => number(high).map(Label::Below),
        (low, "...") => number(low).map(Label::AtLeast),
        (low, high) => Some(Label::Between(number(low)?, number(high)?)),
    }
}

/// A whole number, of bpftrace with a letter for a power of 1024: `64`, `-2`, `16K`.
fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let power = text.chars().last().and_then(|letter| "KMGTPE".find(letter));
    let digits = &text[..text.len() - usize::from(power.is_some())];
    let value: i64 = digits.parse().ok()?;
    Some(value as f64 * 1024_f64.powi(power.map_or(0, |power| power as i32 + 1)))
}

/// DTrace and SystemTap name where a bucket begins; it ends where the next row's begins. SystemTap leaves out rows without
/// a count, but never all around one that has some: no row there ends later than twice its beginning, or one step on.
fn buckets(rows: &[(Label, u64)], has_elisions: bool) -> Vec<Values> {
    let starts: Vec<f64> = rows.iter().filter_map(|(label, _)| start(*label)).collect();
    let steps = || starts.windows(2).map(|pair| pair[1] - pair[0]);
    let is_power = |value: &f64| value.abs() < 2.0 || value.abs().log2().fract() == 0.0;
    let is_linear = if has_elisions {
        !starts.iter().all(is_power)
    } else {
        steps().all(|step| Some(step) == steps().next())
    };
    let step = steps().min_by(f64::total_cmp);
    let end = |index: usize, value: f64| match rows.get(index + 1).and_then(|(label, _)| start(*label)) {
        Some(next) if !has_elisions => Some(next),
        _ if is_linear => step.map(|step| value + step),
        _ => Some((value * 2.0).max(value + 1.0)),
    };
    let bucket = |(index, &(label, count)): (usize, &(Label, u64))| {
        let (low, high) = match label {
            Label::Below(high) => (None, Some(high)),
            Label::AtLeast(low) => (Some(low), None),
            Label::Above(last) => (Some(step.map_or(last, |step| last + step)), None),
            Label::Between(low, high) => (Some(low), Some(high)),
            // Of powers of two below zero the label is the bucket's last value, and the one before it twice that.
            Label::From(value) if value < 0.0 && !is_linear => (Some(value * 2.0 + 1.0), Some(value + 1.0)),
            Label::From(value) => (Some(value), end(index, value)),
        };
        Values { low, high, count }
    };
    rows.iter().enumerate().map(bucket).collect()
}

fn start(label: Label) -> Option<f64> {
    match label {
        Label::From(value) | Label::AtLeast(value) => Some(value),
        Label::Below(_) | Label::Above(_) | Label::Between(..) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Edges = (Option<f64>, Option<f64>, u64);

    fn one(text: &str) -> (Histogram, Vec<Edges>) {
        let histogram = read(text.as_bytes()).into_iter().next().expect("a histogram");
        let edges = histogram
            .buckets
            .iter()
            .map(|bucket| (bucket.low, bucket.high, bucket.count));
        (histogram.clone(), edges.collect())
    }

    #[test]
    fn powers_of_two_end_where_the_next_begins() {
        let text = "
  bash
  write
           value  ------------- Distribution ------------- count
            8192 |                                         0
           16384 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@         4
           32768 |                                         0
          131072 |@@@@@@@@                                 1
";
        let (histogram, edges) = one(text);
        assert_eq!((histogram.key.as_str(), histogram.unit), ("bash write", None));
        assert_eq!(edges[1], (Some(16384.0), Some(32768.0), 4));
        assert_eq!(edges[3], (Some(131_072.0), Some(262_144.0), 1));
    }

    #[test]
    fn linear_steps_are_the_distance_of_labels() {
        let text = "key 7\nvalue ------------- Distribution ------------- count\n\
            < 0 | 1\n0 |@@@@@@@@@@@ 162\n10 | 0\n20 |@@@@ 71\n>= 30 |@ 2\n";
        let (_, edges) = one(text);
        assert_eq!(
            edges,
            [
                (None, Some(0.0), 1),
                (Some(0.0), Some(10.0), 162),
                (Some(10.0), Some(20.0), 0),
                (Some(20.0), Some(30.0), 71),
                (Some(30.0), None, 2)
            ]
        );
        let (_, open_end) = one("value ------------- Distribution ------------- count\n0 |@ 1\n5 |@ 2\n10 | 3\n");
        assert_eq!(open_end[2], (Some(10.0), Some(15.0), 3));
    }

    #[test]
    fn log_linear_steps_change_with_the_magnitude() {
        let (_, edges) = one(
            "value  ------------- Distribution ------------- count\n< 1 | 0\n8 |@ 1\n9 |@ 2\n10 |@ 3\n20 | 4\n>= 30 | 0\n",
        );
        assert_eq!(
            edges[2..5],
            [
                (Some(9.0), Some(10.0), 2),
                (Some(10.0), Some(20.0), 3),
                (Some(20.0), Some(30.0), 4)
            ]
        );
    }

    #[test]
    fn powers_below_zero_end_at_their_label() {
        let (_, edges) =
            one("value ------------- Distribution ------------- count\n-4 |@ 1\n-2 |@ 2\n-1 | 0\n0 |@ 3\n1 | 0\n");
        assert_eq!(edges[..2], [(Some(-7.0), Some(-3.0), 1), (Some(-3.0), Some(-1.0), 2)]);
        assert_eq!(edges[3], (Some(0.0), Some(1.0), 3));
    }

    #[test]
    fn probes_and_remarks_are_no_keys() {
        let text = "dtrace: script 'x.d' matched 2 probes\n^C\n 18 92927 :tick-5s\ntnslsnr 25351\n\
            value ------------- Distribution ------------- count\n0 |@ 1\nother 2\n\
            value ------------- Distribution ------------- count\n0 |@ 5\n1 | 0\n";
        let keys: Vec<String> = read(text.as_bytes())
            .into_iter()
            .map(|histogram| histogram.key)
            .collect();
        assert_eq!(keys, ["tnslsnr 25351", "other 2"]);
    }

    #[test]
    fn bpftrace_names_both_edges() {
        let text = "Attaching 4 probes...\n\n@wait_us[postgres, R]: \n(..., 0)   1 |@    |\n[0]   2 |@@   |\n\
            [512, 1K)   3 |@@@@ |\n[1K, 2K)   4 |@@@@@|\n[1M, ...)   5 |     |\n\n@c[postgres]: 7\n@plain: \n[0, 10)  6 |@|\n";
        let (histogram, edges) = one(text);
        assert_eq!(
            (histogram.key.as_str(), histogram.unit.as_deref()),
            ("wait_us[postgres, R]", Some("us"))
        );
        assert_eq!(
            edges,
            [
                (None, Some(0.0), 1),
                (Some(0.0), Some(1.0), 2),
                (Some(512.0), Some(1024.0), 3),
                (Some(1024.0), Some(2048.0), 4),
                (Some(1_048_576.0), None, 5)
            ]
        );
        let second = &read(text.as_bytes())[1];
        assert_eq!(
            (second.key.as_str(), &second.unit, second.buckets[0].count),
            ("plain", &None, 6)
        );
    }

    #[test]
    fn systemtap_leaves_out_rows_without_a_count() {
        let text = "\npread us\nvalue |-------------------------------------------------- count\n    0 |@@  2\n    1 |  0\n  \
            ~\n   16 |@@@  3\n   32 |   0\n   64 |@ 1\n\n";
        let (histogram, edges) = one(text);
        assert_eq!(histogram.key, "pread us");
        assert_eq!(
            edges,
            [
                (Some(0.0), Some(1.0), 2),
                (Some(1.0), Some(2.0), 0),
                (Some(16.0), Some(32.0), 3),
                (Some(32.0), Some(64.0), 0),
                (Some(64.0), Some(128.0), 1)
            ]
        );
        let linear = "value |------- count\n<10 |@ 1\n10 |@@ 2\n20 | 0\n~\n60 |@ 4\n70 | 0\n>90 |@ 5\n";
        let (_, edges) = one(linear);
        assert_eq!(edges[0], (None, Some(10.0), 1));
        assert_eq!(edges[3], (Some(60.0), Some(70.0), 4));
        assert_eq!(edges[5], (Some(100.0), None, 5));
    }

    #[test]
    fn lines_of_no_histogram_are_told() {
        let text = "Tracing block device I/O... Hit Ctrl-C to end.\nstrange\n\ndisk = vda\n\
            usecs : count distribution\n 0 -> 1 : 4 |**|\n\n@c[postgres]: 7\n";
        let (histograms, unread) = read_telling(text.as_bytes());
        assert_eq!(histograms.len(), 1);
        assert_eq!(histograms[0].key, "disk = vda");
        assert_eq!(unread, [2, 8]);
    }

    #[test]
    fn bcc_names_the_last_value_and_the_unit() {
        let text = "Tracing block device I/O... Hit Ctrl-C to end.\n\ndisk = vda\t\n     usecs               : count    distribution\n\
                 0 -> 1          : 0        |                                        |\n\
                16 -> 31         : 4907     |*****************                       |\n\
                 7               : 3        |*                                       |\n";
        let (histogram, edges) = one(text);
        assert_eq!(
            (histogram.key.as_str(), histogram.unit.as_deref()),
            ("disk = vda", Some("usecs"))
        );
        assert_eq!(edges[1..], [(Some(16.0), Some(32.0), 4907), (Some(7.0), Some(8.0), 3)]);
    }

    #[test]
    fn a_unit_may_be_several_words() {
        let (histogram, _) =
            one("event=log file sync\n wait time, microsec : count     distribution\n 0 -> 1 : 0 | |\n");
        assert_eq!(histogram.unit.as_deref(), Some("wait time, microsec"));
    }

    #[test]
    fn what_is_no_histogram_is_left_out() {
        for text in [
            "",
            "a | b 3",
            "@c[x]: 3",
            "value - Distribution - count\n",
            "@x:\n[a, b) 3 |@|",
            "\u{7f}|||\n",
        ] {
            assert_eq!(read(text.as_bytes()), [], "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in r"(value - Distribution - count\n|@a:\n|us : count distribution\n)?([<>=\[( ]{0,2}-?[0-9]{0,20}[KMÄ]?(, |->| : )?[0-9.]{0,4}[\])]? ?[0-9]{0,3} ?\|@*\|? ?[0-9]{0,22}\n){0,6}") {
            read(text.as_bytes());
        }
    }
}
