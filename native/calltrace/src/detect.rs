//! What kind of file it is, found from its beginning.

use crate::event::{Kind, Line};
use crate::layout::{Layout, Tool};
use crate::names::UNKNOWN;
use crate::{perf_trace, quantize, strace, totals, truss};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detected {
    Trace(Layout),
    /// A table of sums by call.
    Summary(Tool),
    Histograms,
    Empty,
    Binary,
    Unknown,
}

/// How much of a file is looked at.
const HEAD_BYTES: usize = 1 << 16;

pub fn detect(head: &[u8]) -> Detected {
    let head = &head[..head.len().min(HEAD_BYTES)];
    if head.trim_ascii().is_empty() {
        return Detected::Empty;
    }
    if head.contains(&0) {
        return Detected::Binary;
    }
    let lines: Vec<&[u8]> = head
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty())
        .collect();
    if let Some(layout) = trace(&lines) {
        Detected::Trace(layout)
    } else if let Some(totals) = totals::read(head) {
        Detected::Summary(totals.tool)
    } else if quantize::read(head).is_empty() {
        Detected::Unknown
    } else {
        Detected::Histograms
    }
}

/// The layout under which most lines are calls that are known by name. A library tracer (ltrace) writes the same form, of
/// functions that are no system calls.
fn trace(lines: &[&[u8]]) -> Option<Layout> {
    let layouts = [strace::sniff(lines), truss::sniff(lines), perf_trace::sniff(lines)];
    let rated = layouts
        .into_iter()
        .flatten()
        .map(|layout| (recognised(&layout, lines), layout));
    let better = |best: (usize, Layout), next: (usize, Layout)| if next.0 > best.0 { next } else { best };
    let (recognised, layout) = rated.reduce(better)?;
    (recognised > 0).then_some(layout)
}

/// How many lines are events; 0 when most of the calls among them are unknown.
fn recognised(layout: &Layout, lines: &[&[u8]]) -> usize {
    let parse = match layout.tool {
        Tool::Strace => strace::parse,
        Tool::Truss => truss::parse,
        Tool::PerfTrace => perf_trace::parse,
    };
    let (mut events, mut calls, mut known) = (0, 0, 0);
    for line in lines {
        let Line::Event(event) = parse(layout, line, 0, line.len()) else {
            continue;
        };
        let is_call = matches!(
            event.kind,
            Kind::Call | Kind::Unfinished | Kind::Resumed | Kind::NoReturn
        );
        events += 1;
        calls += usize::from(is_call);
        known += usize::from(is_call && event.call != UNKNOWN);
    }
    if known * 2 < calls { 0 } else { events }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(text: &str) -> Option<Tool> {
        match detect(text.as_bytes()) {
            Detected::Trace(layout) => Some(layout.tool),
            _ => None,
        }
    }

    #[test]
    fn each_tool_is_known_by_its_lines() {
        assert_eq!(
            tool("open(\"/etc/x\", O_RDONLY) = -1 ENOENT (No such file or directory)\n"),
            Some(Tool::Strace)
        );
        assert_eq!(tool("1795213146.359323 close(3) = 0 <0.000009>\n"), Some(Tool::Strace));
        assert_eq!(tool("open(\"/etc/x\", O_RDONLY)\t\tErr#2 ENOENT\n"), Some(Tool::Truss));
        assert_eq!(
            tool("15697: 1.5463 0.0021 0.0020 accept(12, 0xFF, 0xFF, SOV_DEFAULT) = 13\n"),
            Some(Tool::Truss)
        );
        assert_eq!(
            tool("     0.055 ( 0.014 ms): bash/19484 brk() = 0x55cbc1a3e000\n"),
            Some(Tool::PerfTrace)
        );
    }

    #[test]
    fn a_trace_behind_other_lines_is_found() {
        let words = "In this excerpt the listener accepts a connection.\n".repeat(3);
        assert_eq!(
            tool(&format!("{words}15697: 1.5463 accept(12, 0xFF, 0xFF) = 13\n")),
            Some(Tool::Truss)
        );
        assert_eq!(
            tool(&format!("{words}  0.055 ( 0.014 ms): a/1 brk() = 0\n")),
            Some(Tool::PerfTrace)
        );
    }

    #[test]
    fn sums_and_histograms_are_no_traces() {
        let strace = "% time     seconds  usecs/call     calls    errors syscall\n------ ---\n 61.05    0.002513   279   9   4 wait4\n";
        assert_eq!(detect(strace.as_bytes()), Detected::Summary(Tool::Strace));
        let truss = "syscall               seconds   calls  errors\nread                   40.740  639326\n";
        assert_eq!(detect(truss.as_bytes()), Detected::Summary(Tool::Truss));
        assert_eq!(detect(b"@us:\n[2, 4)   101 |@@  |\n"), Detected::Histograms);
    }

    #[test]
    fn logs_of_other_tools_are_unknown() {
        let ltrace = "__libc_start_main(0x55d0, 1, 0x7ffd) = 0\nstrlen(\"abc\") = 3\nmalloc(10) = 0x55d1\nread(3, \"\", 9) = 0\nfree(0x55d1) = <void>\n";
        let others = [
            ltrace,
            "#0  0x00007f in read () from /lib/libc.so.6\n#1  main (argc=1) at x.c:3\n(gdb) p read(3, 0, 0)\n$1 = 0\n",
            "Nov 21 04:03:22 host postgres[123]: LOG:  connection received: host=127.0.0.1 port=1\n",
            "SELECT count(*) FROM pg_class WHERE oid = 5;\nINSERT INTO t VALUES (1, 'read(3) = 4');\n",
            "WORKLOAD REPOSITORY report for\n\nDB Name         DB Id    Instance\n------------ ----------- ------------\n",
            "import sys\n\nif len(sys.argv) > 1:\n    exit(1)\nexit(0)\n",
        ];
        for text in others {
            assert_eq!(detect(text.as_bytes()), Detected::Unknown, "{text}");
        }
    }

    #[test]
    fn nothing_and_noise_are_told_apart() {
        assert_eq!(detect(b" \n\t\n"), Detected::Empty);
        assert_eq!(detect(b"\x7fELF\0\0\n"), Detected::Binary);
    }
}
