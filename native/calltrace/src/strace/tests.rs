use super::*;
use crate::event::{NO_NUMBER, NO_TIME};

const EPOCH: Layout = layout(Clock::Epoch, true);

const fn layout(clock: Clock, has_pid: bool) -> Layout {
    Layout {
        tool: Tool::Strace,
        clock,
        has_pid,
        has_delta: false,
        has_cpu: false,
        stamped_at_return: false,
    }
}

/// The event of a line, and the texts of its spans: name, arguments, error, remark.
fn event<'a>(layout: &Layout, line: &'a str) -> (Event, [&'a str; 4]) {
    let Line::Event(event) = parse(layout, line.as_bytes(), 0, line.len()) else {
        panic!("no event: {line}: {:?}", parse(layout, line.as_bytes(), 0, line.len()));
    };
    let text = |span: Span| std::str::from_utf8(span.of(line.as_bytes())).unwrap();
    (
        event,
        [
            text(event.name),
            text(event.arguments),
            text(event.error),
            text(event.remark),
        ],
    )
}

fn call(line: &str) -> (Event, [&str; 4]) {
    event(&layout(Clock::None, false), line)
}

fn other(line: &[u8]) -> Line {
    parse(&EPOCH, line, 0, line.len())
}

#[test]
fn a_call_gives_all_its_parts() {
    let (read, texts) = event(
        &EPOCH,
        r#"15799 1795213146.359323 read(3, "abc"..., 8192) = 3 <0.000009>"#,
    );
    assert_eq!((read.kind, read.pid, read.result), (Kind::Call, 15799, 3));
    assert_eq!((read.stamp_ns, read.elapsed_ns), (1_795_213_146_359_323_000, 9_000));
    assert_eq!((read.fd, read.size, read.call), (3, 8192, names::index(b"read")));
    assert_eq!(texts, ["read", r#"3, "abc"..., 8192"#, "", ""]);
}

#[test]
fn spans_count_from_the_chunk() {
    let chunk = b"getpid() = 5\n7 getpid()   = 6\n";
    let Line::Event(second) = parse(&layout(Clock::None, true), chunk, 13, 29) else {
        panic!("no event");
    };
    assert_eq!(
        (second.pid, second.result, second.name.of(chunk)),
        (7, 6, &b"getpid"[..])
    );
}

#[test]
fn every_column_is_understood() {
    const NS: i64 = 1_000_000_000;
    let cases = [
        (Clock::None, "[pid   123] getpid() = 1", 123, NO_TIME),
        (Clock::None, "[pid   123<a b>] getpid() = 1", 123, NO_TIME),
        (Clock::None, "123<bash> getpid() = 1", 123, NO_TIME),
        (Clock::None, "getpid() = 1", 0, NO_TIME),
        (Clock::None, "[00007f49c30f9c47] getpid() = 1", 0, NO_TIME),
        (Clock::Day, "123   00:00:02 getpid() = 1", 123, 2 * NS),
        (
            Clock::Day,
            "[pid 123] 00:01:02.500000 getpid() = 1",
            123,
            62 * NS + NS / 2,
        ),
        (
            Clock::Day,
            "00:00:02.000001 (+     0.000145) getpid() = 1",
            0,
            2 * NS + 1000,
        ),
        (
            Clock::Day,
            "23:59:59.989 [????????????????] getpid() = 1",
            0,
            86_399 * NS + 989_000_000,
        ),
        (
            Clock::Epoch,
            "453   1795234273.365054 [  59] [00007f55c4115ad7] getpid() = 1",
            453,
            1_795_234_273_365_054_000,
        ),
        (
            Clock::Epoch,
            "1795234273.869607303 getpid() = 1",
            0,
            1_795_234_273_869_607_303,
        ),
        (Clock::Epoch, "1795234273 getpid() = 1", 0, 1_795_234_273 * NS),
        (Clock::Line, "     0.000145 getpid() = 1", 0, 145_000),
        (Clock::Line, "[pid   423]      0.000019 getpid() = 1", 423, 19_000),
        (Clock::Line, "529        0 getpid() = 1", 529, 0),
        (Clock::Line, "548        0.003 getpid() = 1", 548, 3_000_000),
    ];
    for (clock, line, pid, stamp_ns) in cases {
        let (getpid, texts) = event(&layout(clock, true), line);
        assert_eq!(
            (getpid.pid, getpid.stamp_ns, getpid.result, texts[0]),
            (pid, stamp_ns, 1, "getpid"),
            "{line}"
        );
    }
}

#[test]
fn every_form_of_elapsed_time_is_understood() {
    for (text, elapsed_ns) in [
        ("<0.000087876>", 87_876),
        ("<12.000001>", 12_000_001_000),
        ("<0.001>", 1_000_000),
        ("<3>", 3_000_000_000),
    ] {
        assert_eq!(call(&format!("getpid() = 1 {text}")).0.elapsed_ns, elapsed_ns, "{text}");
    }
}

#[test]
fn results_errors_and_remarks_are_told_apart() {
    let cases = [
        ("close(3)   = 0", 0, "", ""),
        ("brk(NULL) = 0x36bf9000", 0x36bf_9000, "", ""),
        ("mmap(NULL, 1) = 0xffffffffffffffff", -1, "", ""),
        ("getpriority(1, 2) = -1", -1, "", ""),
        ("poll([], 1, 5) = 0 (Timeout) <0.005103>", 0, "", "(Timeout)"),
        (
            "poll([{fd=3, events=POLLIN}], 1, 5) = 1 ([{fd=3, revents=POLLIN}])",
            1,
            "",
            "([{fd=3, revents=POLLIN}])",
        ),
        (
            "select(6, [5]) = 1 (in [5], left {tv_sec=3, tv_usec=4})",
            1,
            "",
            "(in [5], left {tv_sec=3, tv_usec=4})",
        ),
        (
            "recv(3) = -1 EAGAIN (Resource temporarily unavailable) <0.1>",
            NO_NUMBER,
            "EAGAIN",
            "(Resource temporarily unavailable)",
        ),
        ("x(3) = -1 (errno 524)", NO_NUMBER, "errno 524", "(errno 524)"),
        (
            "x(3) = -1 ENOSYS (Function not implemented) (INJECTED)",
            NO_NUMBER,
            "ENOSYS",
            "(Function not implemented) (INJECTED)",
        ),
        (
            "pause() = ? ERESTARTNOHAND (To be restarted if no handler)",
            NO_NUMBER,
            "ERESTARTNOHAND",
            "(To be restarted if no handler)",
        ),
        (r#"open("/etc/passwd") = 3</etc/passwd>"#, 3, "", "</etc/passwd>"),
        (
            r#"open("/dev/null") = 8</dev/null<char 1:3>> <0.000010>"#,
            8,
            "",
            "</dev/null<char 1:3>>",
        ),
        ("getpid() = 480<python3>", 480, "", "<python3>"),
        (
            "getpid() = 4 /* 5 in strace's PID NS */",
            4,
            "",
            "/* 5 in strace's PID NS */",
        ),
    ];
    for (line, result, error, remark) in cases {
        let (event, texts) = call(line);
        assert_eq!(
            (event.kind, event.result, texts[2], texts[3]),
            (Kind::Call, result, error, remark),
            "{line}"
        );
    }
}

#[test]
fn the_end_of_the_arguments_is_found_whatever_they_hold() {
    let cases = [
        r#"4, "a) = 5 \"x\" <0.1> \\ = 3", 22"#,
        r#"4, "<unfinished ...>", 16"#,
        r#"AT_FDCWD, "/tmp/we) = 5 (ird>x<y", O_RDWR"#,
        "SIG_SETMASK, ~[ILL TRAP RTMIN RT_1], NULL, 8",
        r#"5</tmp/st/we) = 5 ird\76x\74y>, 10, SEEK_SET"#,
        "0x3001 /* ARCH_??? */, 0x7ffef79f01f0",
        "<... resuming interrupted poll ...>",
        r#"3, {st_rdev=makedev(0x1, 0x3), ...}"#,
        "",
    ];
    for arguments in cases {
        for outcome in [
            "= 0",
            "= 5</tmp/we) = 5 ird>",
            "= 1 (in [5])",
            "= -1 EAGAIN (Again) <0.000001>",
            "= ?",
        ] {
            let line = format!("restart_syscall({arguments})  {outcome}");
            assert_eq!(call(&line).1[1], arguments, "{line}");
        }
    }
}

#[test]
fn calls_that_do_not_return_are_marked() {
    assert_eq!(call("exit_group(0)           = ?").0.kind, Kind::NoReturn);
    assert_eq!(call("exit_group(0)           = ? <unavailable>").0.kind, Kind::NoReturn);
    let (read, texts) = call("read(3,  <unfinished ...>) = ?");
    assert_eq!((read.kind, texts[1]), (Kind::NoReturn, "3, "));
}

#[test]
fn halves_of_calls_are_marked() {
    let (start, texts) = call("pselect6(6, [5], NULL <unfinished ...>");
    assert_eq!(
        (start.kind, texts[0], texts[1]),
        (Kind::Unfinished, "pselect6", "6, [5], NULL")
    );
    let (start, texts) = call("????( <unfinished ...>");
    assert_eq!((start.kind, texts[0], texts[1]), (Kind::Unfinished, "????", ""));
    assert_eq!(call("read(0,  <detached ...>").1[1], "0, ");
    let (end, texts) = call(r#"<... read resumed>"a) = 5", 100) = 22 <0.000954>"#);
    assert_eq!((end.kind, end.result, end.elapsed_ns), (Kind::Resumed, 22, 954_000));
    assert_eq!((texts[0], texts[1]), ("read", r#""a) = 5", 100"#));
    let (end, texts) = call("<... accept resumed> 0x7ffe, NULL) = -1 EINTR (Interrupted system call)");
    assert_eq!(
        (end.kind, end.result, texts[1], texts[2]),
        (Kind::Resumed, NO_NUMBER, "0x7ffe, NULL", "EINTR")
    );
    let (end, texts) = call("<... clock_nanosleep resumed> <unfinished ...>) = ?");
    assert_eq!((end.kind, end.result, texts[1]), (Kind::Resumed, NO_NUMBER, ""));
}

#[test]
fn a_call_that_a_message_interrupts_goes_on_in_the_next_line() {
    let (start, texts) = call("clone(child_stack=NULL, flags=SIGCHLDstrace: Process 340 attached");
    assert_eq!(
        (start.kind, texts[1]),
        (Kind::Unfinished, "child_stack=NULL, flags=SIGCHLD")
    );
    let (rest, texts) = call(", child_tidptr=0x7f092f143590) = 386 <0.000406>");
    assert_eq!((rest.kind, rest.result, rest.elapsed_ns), (Kind::Resumed, 386, 406_000));
    assert_eq!((texts[0], texts[1]), ("", ", child_tidptr=0x7f092f143590"));
    assert_eq!(other(b" <unfinished ...>"), Line::Nothing);
}

#[test]
fn before_4_7_the_message_stands_before_all_arguments() {
    for line in [
        "clone(Process 340 attached",
        "clone(Process 340 attached (waiting for parent)",
    ] {
        let (start, texts) = call(line);
        assert_eq!((start.kind, texts[1]), (Kind::Unfinished, ""));
    }
    let (rest, _) = call("child_stack=0, flags=SIGCHLD, child_tidptr=0x7f2c34a1b9d0) = 340");
    assert_eq!((rest.kind, rest.result), (Kind::Resumed, 340));
}

#[test]
fn signals_and_ends_are_understood() {
    let (signal, texts) = call("--- SIGCHLD {si_signo=SIGCHLD, si_pid=8195, si_status=0} ---");
    assert_eq!(
        (signal.kind, texts[0], texts[1]),
        (Kind::Signal, "SIGCHLD", "si_signo=SIGCHLD, si_pid=8195, si_status=0")
    );
    let (signal, texts) = call("--- SIGCHLD (Child exited) @ 0 (0) ---");
    assert_eq!((signal.kind, texts[0]), (Kind::Signal, "SIGCHLD"));
    let (exit, _) = event(&EPOCH, "12 1795213146.359323 +++ exited with 3 +++");
    assert_eq!((exit.kind, exit.pid, exit.result), (Kind::Exited, 12, 3));
    let (end, texts) = call("+++ killed by SIGSEGV (core dumped) +++");
    assert_eq!((end.kind, texts[0]), (Kind::Killed, "SIGSEGV"));
}

#[test]
fn messages_of_strace_itself_are_understood() {
    for line in [
        "strace: Process 29485 attached",
        "Process 29485 attached with 3 threads",
        "Process 29485 attached (waiting for parent)",
    ] {
        let (attached, _) = event(&EPOCH, line);
        assert_eq!((attached.kind, attached.result), (Kind::Attached, 29485));
    }
    for line in [
        "strace: Process 29485 detached",
        "strace: attach: ptrace(PTRACE_SEIZE, 1): Operation not permitted",
        "[ Process PID=123 runs in 32 bit mode. ]",
        "12 1795213146.359323 --- stopped by SIGSTOP ---",
        "12 1795213146.359323 +++ superseded by execve in pid 13 +++",
        "",
        "% time     seconds  usecs/call     calls    errors syscall",
        "------ ----------- ----------- --------- --------- ----------------",
        "  4.03    0.000073          73         1           clone3",
        "100.00    0.001811           3       552        56 total",
    ] {
        assert_eq!(other(line.as_bytes()), Line::Nothing, "{line}");
    }
}

#[test]
fn stacks_and_dumps_belong_to_the_line_before() {
    for line in [
        " > /lib/libc.so.6(_exit+0x29) [0xd4409]",
        " | 00000  61 29                    a)               |",
    ] {
        assert_eq!(other(line.as_bytes()), Line::More(Span::new(0, line.len())));
    }
}

#[test]
fn what_is_no_event_is_named() {
    let cases: [(&[u8], Reason); 12] = [
        (
            b"2026-11-20 22:44:50.934 UTC [15799] LOG:  received SIGHUP",
            Reason::NotTrace,
        ),
        (b"12 1795213146.359323 read(3, \"abc", Reason::CutOff),
        (b"12 1795213146.359323 read(3, \"abc\") =", Reason::CutOff),
        (b"12 1795213146.359323 <... read resu", Reason::CutOff),
        (b"12 1795213146.359323 read( <0.000009>", Reason::CutOff),
        (b"12 1795213146.359323 read( <1>", Reason::CutOff),
        (b"12 1795213146.359323 read(<1>", Reason::CutOff),
        (b"\x7fELF\x02\x01\x01\0\0", Reason::NotText),
        (b"\xff\xfe caf\xe9", Reason::NotText),
        (b"12 1795213146.359323 close(3) = 0 <-1.000000>", Reason::BadNumber),
        (
            b"12 1795213146.359323 close(3) = 0 <1000000000000000000.000000>",
            Reason::BadNumber,
        ),
        (
            b"12 1795213146.359323 close(3) = 99999999999999999999",
            Reason::BadNumber,
        ),
    ];
    for (line, reason) in cases {
        assert_eq!(other(line), Line::Skip(reason), "{}", String::from_utf8_lossy(line));
    }
}

#[test]
fn the_layout_is_found_from_the_lines() {
    let cases: [(&[&str], Clock, bool); 7] = [
        (&["getpid() = 1", "getpid() = 1"], Clock::None, false),
        (&["529   getpid() = 1"], Clock::None, true),
        (&["getpid() = 1", "[pid  12] getpid() = 1"], Clock::None, true),
        (&["12    1795213146.359323 getpid() = 1", "hello"], Clock::Epoch, true),
        (&["23:02:49.765154 getpid() = 1"], Clock::Day, false),
        (&["     0.000145 getpid() = 1"], Clock::Line, false),
        (&["529        0 getpid() = 1"], Clock::Line, true),
    ];
    for (lines, clock, has_pid) in cases {
        let lines: Vec<&[u8]> = lines.iter().map(|line| line.as_bytes()).collect();
        assert_eq!(sniff(&lines), Some(layout(clock, has_pid)), "{lines:?}");
    }
}

#[test]
fn logs_of_other_tools_are_refused() {
    for line in [
        "8195:\t 0.0300\t 0.0001 read(4, \"abc\", 3)\t\t= 3",
        "     0.017 ( 0.010 ms): bash/123 read(fd: 3, buf: 0x7f, count: 5) = 5",
        "2026-11-20 22:44:50.934 UTC [15799] LOG:  f(x) = 1",
        "",
    ] {
        assert_eq!(sniff(&[line.as_bytes()]), None, "{line}");
    }
    assert_eq!(sniff(&[]), None);
}
