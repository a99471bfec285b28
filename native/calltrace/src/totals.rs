//! Summaries instead of traces: `strace -c` (also at the end of a log with -C), `truss -c`, `perf trace -s`.
//!
//! All are tables under a heading that names a column `syscall` and one `calls`; which others stand there, and in which
//! order, depends on the tool and its options.

use crate::layout::Tool;

#[derive(Clone, Debug, PartialEq)]
pub struct Totals {
    pub tool: Tool,
    pub rows: Vec<TotalRow>,
    /// From start to end of the traced program; truss only, as the next two.
    pub elapsed_s: Option<f64>,
    pub user_s: Option<f64>,
    /// CPU time in calls.
    pub system_s: Option<f64>,
}

/// The calls of one name, of a thread or of the whole trace. Null is what the table has no column for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TotalRow {
    pub pid: Option<u32>,
    pub thread: Option<String>,
    pub call: String,
    /// CPU time in the kernel (strace -c, truss -c) or time between start and return (strace -cw, perf trace).
    pub seconds: Option<f64>,
    pub calls: u64,
    pub errors: Option<u64>,
    pub min_s: Option<f64>,
    pub mean_s: Option<f64>,
    pub max_s: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Name,
    Calls,
    Errors,
    Seconds,
    Min,
    Mean,
    Max,
    Other,
}

/// A column, and the seconds that its unit has.
type Measured = (Column, f64);

/// Read all tables of a summary; null when there is none with a row.
pub fn read(text: &[u8]) -> Option<Totals> {
    let mut reader = Reader::default();
    let mut lines = text
        .split(|byte| *byte == b'\n')
        .filter_map(|line| std::str::from_utf8(line).ok());
    while let Some(line) = lines.next() {
        reader.take(line, &mut lines.clone());
    }
    let tool = reader.tool.filter(|_| !reader.rows.is_empty())?;
    Some(Totals {
        tool,
        rows: reader.rows,
        elapsed_s: reader.elapsed_s,
        user_s: reader.user_s,
        system_s: reader.system_s,
    })
}

#[derive(Default)]
struct Reader {
    tool: Option<Tool>,
    /// Of the table that is being read; empty outside one.
    columns: Vec<Measured>,
    /// The table's first row was read: a line of another form ends it.
    has_begun: bool,
    /// Whose table follows (perf trace -s).
    pid: Option<u32>,
    thread: Option<String>,
    rows: Vec<TotalRow>,
    elapsed_s: Option<f64>,
    user_s: Option<f64>,
    system_s: Option<f64>,
}

impl Reader {
    fn take<'a>(&mut self, line: &'a str, following: &mut impl Iterator<Item = &'a str>) {
        if let Some(columns) = heading(line) {
            self.tool = Some(tool(&columns, following.next()));
            self.columns = columns;
            self.has_begun = false;
        } else if let Some((pid, thread)) = thread_of_table(line) {
            (self.pid, self.thread) = (pid, Some(thread.to_owned()));
        } else if !self.columns.is_empty() {
            self.row_or_end(line);
        } else if self.tool == Some(Tool::Truss) {
            self.whole(line);
        }
    }

    fn row_or_end(&mut self, line: &str) {
        if let Some(row) = row(&self.columns, line) {
            self.has_begun = true;
            self.rows.push(TotalRow {
                pid: self.pid,
                thread: self.thread.clone(),
                ..row
            });
        } else if self.has_begun || !is_below_heading(line) {
            self.columns.clear();
        }
    }

    /// What truss writes below its table.
    fn whole(&mut self, line: &str) {
        let Some((name, values)) = line.split_once(':') else {
            return;
        };
        let value = values.split_whitespace().next().and_then(decimal);
        match name.trim() {
            "sys totals" => self.system_s = value,
            "usr time" => self.user_s = value,
            "elapsed" => self.elapsed_s = value,
            _ => {}
        }
    }
}

/// The columns of a heading; null for any other line.
fn heading(line: &str) -> Option<Vec<Measured>> {
    const MILLI: f64 = 1e-3;
    if !line.contains("syscall") || !line.contains("calls") {
        return None;
    }
    let line = line.replace("% time", "%time");
    let columns = line.split_whitespace().map(|word| {
        Some(match word {
            "syscall" => (Column::Name, 1.0),
            "calls" => (Column::Calls, 1.0),
            "errors" => (Column::Errors, 1.0),
            "seconds" => (Column::Seconds, 1.0),
            "usecs/call" => (Column::Mean, 1e-6),
            "shortest" => (Column::Min, 1.0),
            "longest" => (Column::Max, 1.0),
            "total" => (Column::Seconds, MILLI),
            "min" => (Column::Min, MILLI),
            "avg" => (Column::Mean, MILLI),
            "max" => (Column::Max, MILLI),
            "stddev" | "%time" => (Column::Other, 1.0),
            _ => return None,
        })
    });
    let columns: Vec<Measured> = columns.collect::<Option<_>>()?;
    let has = |wanted| columns.iter().any(|(column, _)| *column == wanted);
    (has(Column::Name) && has(Column::Calls)).then_some(columns)
}

/// strace rules off its heading, truss does not; only perf writes milliseconds.
fn tool(columns: &[Measured], next_line: Option<&str>) -> Tool {
    if columns
        .iter()
        .any(|(column, unit_s)| *column == Column::Seconds && *unit_s < 1.0)
    {
        Tool::PerfTrace
    } else if next_line.is_some_and(|line| line.starts_with("---")) {
        Tool::Strace
    } else {
        Tool::Truss
    }
}

/// `bash (19920), 598 events, 32.5%`: pid and name of the thread whose table follows.
fn thread_of_table(line: &str) -> Option<(Option<u32>, &str)> {
    let (thread, counts) = line.trim().rsplit_once("), ")?;
    counts.split_once(" events")?;
    let (name, pid) = thread.rsplit_once(" (")?;
    Some((Some(pid.parse().ok()?), name))
}

/// Units and rules between a heading and its first row.
fn is_below_heading(line: &str) -> bool {
    line.trim().starts_with(['-', '('])
}

/// A row under these columns. Where no call failed, strace and truss leave the number of errors blank.
fn row(columns: &[Measured], line: &str) -> Option<TotalRow> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_blank = |column: Column| column == Column::Errors && words.len() + 1 == columns.len();
    let mut row = TotalRow::default();
    let mut values = words.iter();
    for &(column, unit_s) in columns {
        if is_blank(column) {
            row.errors = Some(0);
            continue;
        }
        fill(&mut row, column, unit_s, values.next()?)?;
    }
    let is_sum = row.call.is_empty() || row.call == "total" || row.call.starts_with('-');
    (values.next().is_none() && !is_sum).then_some(row)
}

fn fill(row: &mut TotalRow, column: Column, unit_s: f64, word: &str) -> Option<()> {
    let seconds = || decimal(word).map(|value| value * unit_s);
    match column {
        Column::Name => row.call = word.to_owned(),
        Column::Calls => row.calls = word.parse().ok()?,
        Column::Errors => row.errors = Some(word.parse().ok()?),
        Column::Seconds => row.seconds = Some(seconds()?),
        Column::Min => row.min_s = Some(seconds()?),
        Column::Mean => row.mean_s = Some(seconds()?),
        Column::Max => row.max_s = Some(seconds()?),
        Column::Other => _ = decimal(word.trim_end_matches('%'))?,
    }
    Some(())
}

/// A number that is neither negative nor infinite: `.079`, `40.740`.
fn decimal(word: &str) -> Option<f64> {
    let is_plain = word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    word.parse().ok().filter(|_| is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row_of<'a>(totals: &'a Totals, call: &str) -> &'a TotalRow {
        totals.rows.iter().find(|row| row.call == call).expect("a row")
    }

    #[test]
    fn strace_leaves_errors_blank_where_there_are_none() {
        let text = "\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 61.05    0.002513         279         9         4 wait4
  5.52    0.000227          45         5           clone
------ ----------- ----------- --------- --------- ----------------
100.00    0.004116           4       891       139 total
";
        let totals = read(text.as_bytes()).unwrap();
        assert_eq!(
            (totals.tool, totals.rows.len(), totals.elapsed_s),
            (Tool::Strace, 2, None)
        );
        let wait = row_of(&totals, "wait4");
        assert_eq!((wait.seconds, wait.calls, wait.errors), (Some(0.002513), 9, Some(4)));
        assert_eq!((wait.mean_s, wait.min_s, wait.pid), (Some(279.0 * 1e-6), None, None));
        assert_eq!(row_of(&totals, "clone").errors, Some(0));
    }

    #[test]
    fn columns_of_strace_stand_in_any_order_behind_a_log() {
        let text = "\
getpid() = 1
syscall              seconds     calls    errors     longest    shortest usecs/call % time
---------------- ----------- --------- --------- ----------- ----------- ----------- ------
execve              0.000310         1              0.000310    0.000310         310  34.4
total               0.000310         1         1    0.000310    0.000310         310 100.00
";
        let totals = read(text.as_bytes()).unwrap();
        assert_eq!((totals.tool, totals.rows.len()), (Tool::Strace, 1));
        let exec = row_of(&totals, "execve");
        assert_eq!(
            (exec.min_s, exec.max_s, exec.errors),
            (Some(0.00031), Some(0.00031), Some(0))
        );
    }

    #[test]
    fn a_table_without_errors_does_not_say_there_are_none() {
        let text = "    calls syscall\n--------- --------\n        9 wait4\n";
        let row = &read(text.as_bytes()).unwrap().rows[0];
        assert_eq!((row.calls, row.errors, row.seconds), (9, None, None));
    }

    #[test]
    fn truss_tells_the_whole_below_its_table() {
        let text = "\
signals ------------
SIGCLD             2
total:             2

syscall               seconds   calls  errors
read                   40.740  639326
time                     .079    4286       3
                     --------  ------   ----
sys totals:            52.328 1292964      1
usr time:              25.691
elapsed:              126.210
";
        let totals = read(text.as_bytes()).unwrap();
        assert_eq!((totals.tool, totals.rows.len()), (Tool::Truss, 2));
        assert_eq!(
            (totals.system_s, totals.user_s, totals.elapsed_s),
            (Some(52.328), Some(25.691), Some(126.21))
        );
        assert_eq!(row_of(&totals, "time").seconds, Some(0.079));
        assert_eq!(row_of(&totals, "read").errors, Some(0));
    }

    #[test]
    fn perf_gives_a_table_of_milliseconds_for_each_thread() {
        let text = "
 Summary of events:

 my (odd) thread (2959), 474 events, 0.1%

   syscall            calls  errors  total       min       avg       max       stddev
                                     (msec)    (msec)    (msec)    (msec)        (%)
   --------------- --------  ------ -------- --------- --------- ---------     ------
   futex                 79     78  3924.249     0.000    49.674    54.966      1.29%


 b (7), 1 events, 0.0%

   syscall            calls    total       min       avg       max      stddev
                               (msec)    (msec)    (msec)    (msec)        (%)
   --------------- -------- --------- --------- --------- ---------     ------
   read                   1     2.000     2.000     2.000     2.000      0.00%
";
        let totals = read(text.as_bytes()).unwrap();
        assert_eq!((totals.tool, totals.rows.len()), (Tool::PerfTrace, 2));
        let futex = row_of(&totals, "futex");
        assert_eq!(
            (futex.pid, futex.thread.as_deref()),
            (Some(2959), Some("my (odd) thread"))
        );
        assert_eq!((futex.calls, futex.errors, futex.min_s), (79, Some(78), Some(0.0)));
        assert!((futex.seconds.unwrap() - 3.924_249).abs() < 1e-9);
        assert!((futex.max_s.unwrap() - 0.054_966).abs() < 1e-9);
        let read = row_of(&totals, "read");
        assert_eq!((read.pid, read.errors), (Some(7), None));
    }

    #[test]
    fn what_is_no_summary_is_none() {
        assert_eq!(read(b""), None);
        assert_eq!(read(b"read(3, 4) = 5\nsyscall calls\n"), None);
        assert_eq!(read(b"\xFF\xFE\n\x00"), None);
        assert_eq!(
            read(b"syscall seconds calls errors\nread -1.0 5\nread inf 5\nread 1 99999999999999999999999\n"),
            None
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "([a-z% ]{0,20}(syscall|calls|errors|seconds|total)? ?[-0-9.]{0,25}\n){0,9}") {
            read(text.as_bytes());
        }
    }
}
