use super::*;
use crate::event::NO_TIME;

const US: i64 = 1_000;

/// The event of a line, and the texts of its spans: name, arguments, error, remark, target.
fn event(line: &str) -> (Event, [&str; 5]) {
    let parsed = parse(&Layout::default(), line.as_bytes(), 0, line.len());
    let Line::Event(event) = parsed else {
        panic!("no event: {line}: {parsed:?}");
    };
    let text = |span: Span| std::str::from_utf8(span.of(line.as_bytes())).unwrap();
    let spans = [event.name, event.arguments, event.error, event.remark, event.target];
    (event, spans.map(text))
}

fn after_head(text: &str) -> String {
    format!("     0.716 ( 0.018 ms): bash/19484 {text}")
}

#[test]
fn a_call_gives_all_its_parts() {
    let line = after_head("read(fd: 4</etc/my hosts>, buf: 0x7ffd1d5f2268, count: 832)          = 83");
    let (read, texts) = event(&line);
    assert_eq!((read.kind, read.pid, read.result), (Kind::Call, 19484, 83));
    assert_eq!((read.stamp_ns, read.elapsed_ns), (716 * US, 18 * US));
    assert_eq!((read.fd, read.size, read.offset), (4, 832, NO_NUMBER));
    assert_eq!(texts[0], "read");
    assert_eq!(texts[1], "fd: 4</etc/my hosts>, buf: 0x7ffd1d5f2268, count: 832");
    assert_eq!(texts[4], "/etc/my hosts");
}

#[test]
fn threads_have_any_name_or_none() {
    let cases = [
        ("bash/19484 getpid() = 1", 19484),
        ("a b: (c)/d/19981 getpid() = 1", 19981),
        ("x/12 y/345 getpid() = 1", 345),
        (":20000/20000 getpid() = 1", 20000),
        ("19987 getpid() = 1", 19987),
        ("getpid() = 1", 0),
    ];
    for (text, pid) in cases {
        let line = format!("17647988.978 (107.177 ms): {text}");
        let (call, texts) = event(&line);
        assert_eq!((call.pid, call.result, texts[0]), (pid, 1, "getpid"), "{text}");
    }
}

#[test]
fn a_call_in_two_halves_is_joined_by_its_start() {
    let (begun, texts) =
        event("     9.560 (         ): bash/19484 wait4(upid: -1, stat_addr: 0x7ffd1d5f2620)          ...");
    assert_eq!(
        (begun.kind, begun.stamp_ns, begun.elapsed_ns),
        (Kind::Unfinished, 9_560 * US, NO_TIME)
    );
    assert_eq!(texts[1], "upid: -1, stat_addr: 0x7ffd1d5f2620");
    let (returned, texts) = event("     9.560 ( 7.226 ms): bash/19484  ... [continued]: wait4())        = 19485 (cat)");
    assert_eq!(
        (returned.kind, returned.stamp_ns, returned.elapsed_ns),
        (Kind::Resumed, 9_560 * US, 7_226 * US)
    );
    assert_eq!((returned.pid, returned.result), (19484, 19485));
    assert_eq!(texts[..4], ["wait4", "", "", "(cat)"]);
}

#[test]
fn a_start_that_was_not_seen_has_no_stamp() {
    let (exec, _) = event("         ? (         ): bash/19484  ... [continued]: execve())                 = 0");
    assert_eq!(
        (exec.kind, exec.stamp_ns, exec.elapsed_ns, exec.result),
        (Kind::Resumed, NO_TIME, NO_TIME, 0)
    );
    for result in ["", " 0"] {
        let (child, _) = event(&format!(
            "         ? (         ): bash/19485  ... [continued]: clone())      ={result}"
        ));
        assert_eq!((child.kind, child.pid, child.result), (Kind::Child, 19485, NO_NUMBER));
    }
    let (parent, _) = event("   489.206 ( 0.157 ms): a/19940  ... [continued]: clone3())                   = 19981");
    assert_eq!((parent.kind, parent.result), (Kind::Resumed, 19981));
}

#[test]
fn outcomes_are_told_apart() {
    let cases = [
        ("brk() = 0x55cbc1a3e000", Kind::Call, 0x55cb_c1a3_e000, "", ""),
        (
            "access(filename: 0x1, mode: R) = -1 ENOENT (No such file)",
            Kind::Call,
            NO_NUMBER,
            "ENOENT",
            "(No such file)",
        ),
        (
            "ppoll(ufds: 0x1, nfds: 1) = 0 (Timeout)",
            Kind::Call,
            0,
            "",
            "(Timeout)",
        ),
        (
            "fcntl(fd: 3, cmd: DUPFD) = 11</dev/null>",
            Kind::Call,
            11,
            "",
            "</dev/null>",
        ),
        ("fcntl(fd: 3, cmd: GETFL) = RDWR|APPEND", Kind::Call, NO_NUMBER, "", ""),
        ("rt_sigreturn()      ...", Kind::NoReturn, NO_NUMBER, "", ""),
        ("exit_group() = ?", Kind::NoReturn, NO_NUMBER, "", ""),
        ("openat(dfd: CWD, filename: \"a) = 3\") = 4", Kind::Call, 4, "", ""),
    ];
    for (text, kind, result, error, remark) in cases {
        let line = after_head(text);
        let (event, texts) = event(&line);
        assert_eq!(
            (event.kind, event.result, texts[2], texts[3]),
            (kind, result, error, remark),
            "{text}"
        );
    }
}

#[test]
fn arguments_that_are_zero_are_left_out() {
    let parts = |text: &str| {
        let (event, _) = event(&after_head(text));
        (event.fd, event.size, event.offset)
    };
    assert_eq!(parts("read(buf: 0x7f1b303be720, count: 1) = 1"), (0, 1, NO_NUMBER));
    assert_eq!(
        parts("pread64(fd: 4, buf: 0x7ffd1d5f1e60, count: 784) = 784"),
        (4, 784, 0)
    );
    assert_eq!(
        parts("pread64(fd: 4, buf: 0x7f, count: 784, pos: 64) = 784"),
        (4, 784, 64)
    );
    assert_eq!(parts("lseek(fd: 4, whence: CUR) = 0"), (4, NO_NUMBER, 0));
    assert_eq!(
        parts("lseek(fd: 4, offset: 512, whence: SET) = 512"),
        (4, NO_NUMBER, 512)
    );
    assert_eq!(parts("recvmsg(fd: 5, msg: 0x7f) = 9"), (5, NO_NUMBER, NO_NUMBER));
    assert_eq!(
        parts("sendto(fd: 9, buff: 0x7f, len: 80, flags: NOSIGNAL) = 80"),
        (9, 80, NO_NUMBER)
    );
    assert_eq!(parts("msync(start: 0x7f, len: 4096) = 0"), (-1, NO_NUMBER, NO_NUMBER));
    assert_eq!(parts("dup2(oldfd: 5, newfd: 1) = 1"), (5, NO_NUMBER, NO_NUMBER));
    assert_eq!(
        parts("epoll_wait(epfd: 4, events: 0x7f, maxevents: 1) = 1"),
        (4, NO_NUMBER, NO_NUMBER)
    );
}

#[test]
fn buffers_and_sizes_do_not_make_a_call_another() {
    let site = |text: &str| event(&after_head(text)).0.site;
    assert_eq!(
        site("read(fd: 4, buf: 0x7ffd1d5f2268, count: 832) = 1"),
        site("read(fd: 4, buf: 0x7ffd1d5f1111, count: 10) = 1")
    );
    assert_ne!(
        site("read(fd: 4, buf: 0x7f, count: 8) = 1"),
        site("read(fd: 5, buf: 0x7f, count: 8) = 1")
    );
}

#[test]
fn what_is_no_call_is_named() {
    let cases = [
        (
            "     0.000 ( 0.000 ms): true/19990 minfault [elf_load+0x28a] => 0x555fc11141e0 (?k)",
            Line::Nothing,
        ),
        (
            "     0.648 (         ): cat/5820 sched:sched_process_exit(comm: \"cat\", pid: 5820 (cat))",
            Line::Nothing,
        ),
        ("", Line::Nothing),
        (
            "     0.716 ( 0.018 ms): bash/19484 read(fd: 4, buf: 0x7f",
            Line::Skip(Reason::CutOff),
        ),
        ("Using CPUID GenuineIntel-6-A7-1", Line::Skip(Reason::NotTrace)),
        ("  12.5 (0.1 s): read(3) = 4", Line::Skip(Reason::NotTrace)),
        (
            "99999999999999.5 ( 0.1 ms): a/1 getpid() = 1",
            Line::Skip(Reason::BadNumber),
        ),
        (
            "243.159 (18446744073707.883 ms): a/1  ... [continued]: clone()) = 5",
            Line::Skip(Reason::BadNumber),
        ),
    ];
    for (line, expected) in cases {
        assert_eq!(
            parse(&Layout::default(), line.as_bytes(), 0, line.len()),
            expected,
            "{line}"
        );
    }
}

#[test]
fn one_call_is_enough_to_know_the_tool() {
    let call = after_head("getpid() = 1");
    let layout = sniff(&[b"strange words", call.as_bytes()]).expect("a layout");
    assert_eq!(
        (layout.tool, layout.clock, layout.has_pid),
        (Tool::PerfTrace, Clock::Start, true)
    );
    assert_eq!(sniff(&[b"strange words", b"getpid() = 1"]), None);
}

#[test]
fn spans_count_from_the_chunk() {
    let chunk = b"\n 0.1 ( 0.2 ms): a/1 close(fd: 3</x>) = -1 EBADF (Bad)\n";
    let Line::Event(close) = parse(&Layout::default(), chunk, 1, chunk.len() - 1) else {
        panic!("no event");
    };
    assert_eq!(
        (close.name.of(chunk), close.arguments.of(chunk)),
        (&b"close"[..], &b"fd: 3</x>"[..])
    );
    assert_eq!(
        (close.error.of(chunk), close.target.of(chunk)),
        (&b"EBADF"[..], &b"/x"[..])
    );
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_parsed(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
        parse(&Layout::default(), &bytes, 0, bytes.len());
    }

    #[test]
    fn anything_that_looks_like_a_line_is_parsed(
        line in r#" {0,3}[0-9.?]{0,20} \([ 0-9.]{0,20}( ms)?\): ([a-z /]{0,16}/)?[0-9]{0,11} ( \.\.\. \[continued\]: )?[a-z0-9]{0,6}\((fd: )?[-0-9x<>/:, a-z]{0,20}\)?\)? *(=|\.\.\.)? ?[-0-9xE?]{0,20}( \(a\))?"#
    ) {
        parse(&Layout::default(), line.as_bytes(), 0, line.len());
    }
}
