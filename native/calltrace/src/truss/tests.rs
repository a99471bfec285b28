use super::*;
use crate::event::{NO_NUMBER, NO_TIME};
use crate::layout::Tool;

const MS: i64 = 1_000_000;

fn sniffed(log: &str) -> Layout {
    sniff(&log.lines().map(str::as_bytes).collect::<Vec<_>>()).expect("a layout")
}

/// The event of a line without columns, and the texts of its spans: name, arguments, error, remark.
fn call(line: &str) -> (Event, [&str; 4]) {
    with(&Layout::default(), line)
}

fn with<'a>(layout: &Layout, line: &'a str) -> (Event, [&'a str; 4]) {
    let Line::Event(event) = parse(layout, line.as_bytes(), 0, line.len()) else {
        panic!("no event: {line}: {:?}", parse(layout, line.as_bytes(), 0, line.len()));
    };
    let text = |span: Span| std::str::from_utf8(span.of(line.as_bytes())).unwrap();
    (
        event,
        [event.name, event.arguments, event.error, event.remark].map(text),
    )
}

const ALL: Layout = Layout {
    tool: Tool::Truss,
    clock: Clock::Start,
    has_pid: true,
    has_delta: true,
    has_cpu: true,
    stamped_at_return: true,
};

#[test]
fn a_call_gives_all_its_parts() {
    let (read, texts) = with(
        &ALL,
        "157/2:\t 1.5489\t 0.0011\t 0.0003\tread(13, \"\\0 ( ) = 1 ,\".., 8208)\t= 240",
    );
    assert_eq!((read.pid, read.thread, read.result, read.fd), (157, 2, 240, 13));
    assert_eq!(
        (read.stamp_ns, read.delta_ns, read.cpu_ns),
        (15_489 * MS / 10, 11 * MS / 10, 3 * MS / 10)
    );
    assert_eq!((read.size, read.elapsed_ns), (8208, NO_TIME));
    assert_eq!(texts, ["read", "13, \"\\0 ( ) = 1 ,\".., 8208", "", ""]);
}

#[test]
fn outcomes_are_told_apart() {
    let cases = [
        ("pipe() = 14 [15]", Kind::Call, 14, "", "[15]"),
        (
            "lwp_sigmask(SIG_SETMASK, 0x00000000)\t= 0xFFBFFEFF [0x0000FFFF]",
            Kind::Call,
            0xFFBF_FEFF,
            "",
            "[0x0000FFFF]",
        ),
        (
            "getpeername(12, 0x0, 0x0, SOV_DEFAULT) Err#134 ENOTCONN",
            Kind::Call,
            NO_NUMBER,
            "ENOTCONN",
            "",
        ),
        (
            "open(\"/etc/shadow\", O_RDONLY) Err#13 EACCES [file_dac_read]",
            Kind::Call,
            NO_NUMBER,
            "EACCES",
            "[file_dac_read]",
        ),
        (
            "execve(\"/bin/x\", 0x2FF22B84) Err#2  ENOENT",
            Kind::Call,
            NO_NUMBER,
            "ENOENT",
            "",
        ),
        ("ioctl(1, 2) Err#999", Kind::Call, NO_NUMBER, "Err#999", ""),
        (
            "poll(0x8, 1, 0) ERR#35 'Resource temporarily unavailable'",
            Kind::Call,
            NO_NUMBER,
            "ERR#35",
            "'Resource temporarily unavailable'",
        ),
        ("umask(0)\t= 022", Kind::Call, 18, "", ""),
        (
            "sigtimedwait(0x1, 0x2, 0x3) = SIGALRM",
            Kind::Call,
            NO_NUMBER,
            "",
            "SIGALRM",
        ),
        (
            "thread_init(0x0000000000000000, 0x00000000D050F6A0) =",
            Kind::Call,
            NO_NUMBER,
            "",
            "",
        ),
        (
            "fork1()\t\t(returning as child ...)\t= 15697",
            Kind::Child,
            15697,
            "",
            "",
        ),
        (
            "lwp_create(0x1, 0, 0x2)\t(returning as new lwp ...)\t= 0",
            Kind::Call,
            0,
            "",
            "",
        ),
        (
            "execve(\"/bin/ls\", 0x08047E28, 0x08047E34)  argc = 2",
            Kind::Call,
            0,
            "",
            "argc = 2",
        ),
        (
            "execve(\"/usr/bin/date\", 0x2FF22AE8, 0x200131B8)  argc: 1",
            Kind::Call,
            0,
            "",
            "argc: 1",
        ),
        ("lwp_exit()", Kind::NoReturn, NO_NUMBER, "", ""),
        ("setcontext(0x08047A10)", Kind::NoReturn, NO_NUMBER, "", ""),
        ("_exit(0)", Kind::NoReturn, NO_NUMBER, "", ""),
        (
            "read(0, 0x08047B14, 1024)\t(sleeping...)",
            Kind::Unfinished,
            NO_NUMBER,
            "",
            "",
        ),
        (
            "vfork()\t\t(waiting for child to exit()/exec()...)",
            Kind::Unfinished,
            NO_NUMBER,
            "",
            "",
        ),
    ];
    for (line, kind, result, error, remark) in cases {
        let (event, texts) = call(line);
        assert_eq!(
            (event.kind, event.result, texts[2], texts[3]),
            (kind, result, error, remark),
            "{line}"
        );
    }
}

#[test]
fn arguments_end_at_their_own_bracket() {
    assert_eq!(call("read(0, 0x1, 1024)\t(sleeping...)").1[1], "0, 0x1, 1024");
    assert_eq!(call("fork1() (returning as child ...) = 7").1[1], "");
    assert_eq!(call("write(1, \"a)\", 2) = 2").1[1], "1, \"a)\", 2");
    assert_eq!(call("pause() = 1 (0x1)").1[1], "");
}

#[test]
fn signals_and_ends_of_processes_are_events() {
    let (signal, texts) = with(
        &ALL,
        "157:\t 1.0\t 0.1\t 0.0\t    Received signal #18, SIGCLD, in waitid() [caught]",
    );
    assert_eq!((signal.kind, signal.stamp_ns), (Kind::Signal, 1000 * MS));
    assert_eq!((texts[0], texts[3]), ("SIGCLD", "[caught]"));
    let (killed, _) = with(&ALL, "157:\t*** process killed ***");
    assert_eq!((killed.kind, killed.pid, killed.stamp_ns), (Kind::Killed, 157, NO_TIME));
}

#[test]
fn details_belong_to_the_line_before() {
    let line = b"157:\tAF_INET  name = 10.44.29.32  port = 41612";
    let Line::More(text) = parse(&ALL, line, 0, line.len()) else {
        panic!("no detail");
    };
    assert_eq!(text.of(line), b"AF_INET  name = 10.44.29.32  port = 41612");
    for line in [
        "157: siginfo: SIGCLD CLD_EXITED pid=8195 status=0x0000",
        "157:   argv: ls -l",
        "157: 5: x",
    ] {
        assert!(
            matches!(parse(&ALL, line.as_bytes(), 0, line.len()), Line::More(_)),
            "{line}"
        );
    }
    let alone = b"\tfd=9  ev=POLLIN rev=0";
    assert!(matches!(
        parse(&Layout::default(), alone, 0, alone.len()),
        Line::More(_)
    ));
}

#[test]
fn what_is_no_event_is_named() {
    let cases = [
        (
            "Base time stamp:  1226052134.1234  [ Fri Nov  7 13:02:14 GMT 2008 ]",
            Line::Nothing,
        ),
        ("Fri Nov  7 13:10:39 2014", Line::Nothing),
        ("157:\t*** process otherwise traced ***", Line::Nothing),
        (
            "157:\t 1.0\t 0.1\t 0.0\t    Incurred fault #6, FLTBOUNDS  %pc = 0x08050A7C",
            Line::Nothing,
        ),
        ("157:\t 1.0\t 0.1\t 0.0\t-> libc:atexit(0x1)", Line::Nothing),
        ("", Line::Nothing),
        ("157: 1.5489 0.0011 0.0003 read(13, \"\\0", Line::Skip(Reason::CutOff)),
        ("157: 1.0 0.1 0.0 read(13, (1)", Line::Skip(Reason::CutOff)),
        ("157: 1.5489 0.0011", Line::Skip(Reason::NotTrace)),
        ("the quick brown fox", Line::Skip(Reason::NotTrace)),
        ("\u{1}\u{2}", Line::Skip(Reason::NotText)),
    ];
    for (line, expected) in cases {
        assert_eq!(parse(&ALL, line.as_bytes(), 0, line.len()), expected, "{line:?}");
    }
}

#[test]
fn numbers_out_of_range_do_no_harm() {
    let line = b"157: 99999999999.0 1.0 0.0 getpid() = 1";
    assert_eq!(parse(&ALL, line, 0, line.len()), Line::Skip(Reason::BadNumber));
    for line in [
        "99999999999: getpid() = 1",
        "1/99999999999: getpid() = 1",
        "1: 99999999999999999999.5 getpid() = 1",
    ] {
        assert!(
            !matches!(parse(&ALL, line.as_bytes(), 0, line.len()), Line::Event(_)),
            "{line}"
        );
    }
}

#[test]
fn solaris_columns_are_known_by_their_behaviour() {
    let three = sniffed("15: 1.5 0.5 0.0 getpid() = 15 [1]\n15: fd=9 ev=POLLIN\n15: 1.6 0.1 0.0 close(4) = 0");
    assert_eq!(three, ALL);
    let stamp = sniffed("19/1: 5.5795 close(3) = 0\n19/1: 5.5796 close(4) = 0\n19/1: 5.5796 close(5) = 0");
    assert_eq!(
        (stamp.clock, stamp.has_delta, stamp.has_cpu),
        (Clock::Start, false, false)
    );
    let stamp_delta = sniffed("0.1000 0.1000 getpid() = 1\n0.1010 0.0010 getpid() = 1\n0.1090 0.0080 getpid() = 1");
    assert_eq!(
        (stamp_delta.clock, stamp_delta.has_delta, stamp_delta.has_pid),
        (Clock::Start, true, false)
    );
    let stamp_cpu = sniffed("0.1000 0.0001 getpid() = 1\n0.1010 0.0000 getpid() = 1\n0.1090 0.0001 getpid() = 1");
    assert_eq!(
        (stamp_cpu.clock, stamp_cpu.has_delta, stamp_cpu.has_cpu),
        (Clock::Start, false, true)
    );
    let delta_cpu = sniffed("0.3000 0.0001 getpid() = 1\n0.1010 0.0000 getpid() = 1");
    assert_eq!(
        (delta_cpu.clock, delta_cpu.has_delta, delta_cpu.has_cpu),
        (Clock::Line, true, true)
    );
    let none = sniffed("execve(\"/bin/ls\", 0x1)  argc = 1\nopen(\"/etc/x\", 0) Err#2 ENOENT");
    assert_eq!(
        (none.clock, none.has_delta, none.has_cpu, none.has_pid),
        (Clock::None, false, false, false)
    );
}

#[test]
fn a_falling_column_is_a_delta_unless_waits_take_none_of_it() {
    let delta = sniffed("5: 0.5 pollsys(0x1, 2, 0x0, 0x0) = 1\n5: 0.1 getpid() = 1");
    assert_eq!(
        (delta.clock, delta.has_delta, delta.has_cpu),
        (Clock::Line, true, false)
    );
    let cpu = sniffed("5: 0.0002 pollsys(0x1, 2, 0x0, 0x0) = 1\n5: 0.0001 getpid() = 1");
    assert_eq!((cpu.clock, cpu.has_delta, cpu.has_cpu), (Clock::None, false, true));
    let many = sniffed("5: 0.5 getpid() = 1\n5: 0.1 getpid() = 1\n6: 0.1 getpid() = 1");
    assert_eq!((many.clock, many.has_delta), (Clock::None, true));
}

#[test]
fn aix_columns_are_understood() {
    let log = "4456544: 0.0001: kopen(\"/etc/hosts\", O_RDONLY) = 3\n4456544: 0.0004: kread (3, \"a\", 4096) = 1";
    let layout = sniffed(log);
    assert_eq!((layout.clock, layout.has_pid), (Clock::Start, true));
    let (read, texts) = with(&layout, "4456544: 83624347: 0.0004: kread  (3, \"a\", 4096)   = 1");
    assert_eq!(
        (read.pid, read.thread, read.stamp_ns, read.size),
        (4_456_544, 83_624_347, 400_000, 4096)
    );
    assert_eq!(texts[..2], ["kread", "3, \"a\", 4096"]);
}

#[test]
fn spans_count_from_the_chunk() {
    let chunk = b"1: getpid() = 1\n1: close(3) Err#9 EBADF\n";
    let Line::Event(close) = parse(
        &Layout {
            has_pid: true,
            ..Layout::default()
        },
        chunk,
        16,
        39,
    ) else {
        panic!("no event");
    };
    assert_eq!(
        (close.name.of(chunk), close.arguments.of(chunk), close.error.of(chunk)),
        (&b"close"[..], &b"3"[..], &b"EBADF"[..])
    );
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_parsed(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
        sniff(&[&bytes]);
        parse(&ALL, &bytes, 0, bytes.len());
    }

    #[test]
    fn anything_that_looks_like_a_line_is_parsed(
        line in r#"[0-9]{0,12}[/@:]{0,2} ?[0-9.]{0,24}:? [0-9.]{0,8} ?[a-z_#]{0,5}\(?["\\0-9, ]{0,6}\)? ?(=|Err#|argc|\(returning as child \.\.\.\)|\(sleeping\.\.\.\)|=) ?[-0-9a-zA-Z]{0,20}( \[[0-9]*\])?"#
    ) {
        let layout = sniff(&[line.as_bytes()]).unwrap_or(ALL);
        parse(&layout, line.as_bytes(), 0, line.len());
    }
}
