//! Damaged logs of every tool, through detection, parsing and digest: nothing panics, and no text points outside of its line.
//!
//! A million inputs take a minute with
//! `MALLOC_MMAP_THRESHOLD_=1000000 CALLTRACE_FUZZ_INPUTS=1000000 cargo test --profile fuzz -p calltrace --test fuzz`
//! (the threshold saves clearing the digest's table of pids for each). Another sequence of them: `CALLTRACE_FUZZ_SEED=2`.
//! An input that fails is printed.

use std::io;

use calltrace::detect::{Detected, detect};
use calltrace::digest::Digest;
use calltrace::document::{self, Reading};
use calltrace::event::{Line, Span};
use calltrace::layout::{Clock, Layout, Tool};
use calltrace::part::{Told, Value};
use calltrace::pipeline::{self, Source};
use calltrace::{strace, truss};

const LOGS: &[&str] = &[
    r#"15799 1795213147.370802 accept(5, {sa_family=AF_UNIX}, [128 => 2]) = 6 <0.000019>
15799 1795213147.370973 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD, child_tidptr=0x7f5cf25fdd50) = 29485 <0.000877>
29485 1795213147.371911 openat(AT_FDCWD, "/etc/passwd", O_RDONLY|O_CLOEXEC) = 7 <0.000049>
29485 1795213147.371999 pread64(7, "\4\0\0\0\"GNU) = 3"..., 8192, 409600) = 8192 <0.000012>
15799 1795213147.372143 pselect6(6, [5], NULL, NULL, {tv_sec=60, tv_nsec=0}, NULL <unfinished ...>
29485 1795213147.372237 recvfrom(6, 0x55a4ce1e5440, 8192, 0, NULL, NULL) = -1 EAGAIN (Resource temporarily unavailable) <0.000017>
29485 1795213147.372300 mmap(NULL, 95921, PROT_READ, MAP_PRIVATE, 7, 0) = 0x7fdfc833a000 <0.000009>
29485 1795213147.372394 exit_group(0) = ?
29485 1795213147.372400 +++ exited with 0 +++
15799 1795213147.372500 <... pselect6 resumed>) = ? ERESTARTNOHAND (To be restarted if no handler) <0.000444>
15799 1795213147.372510 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=29485, si_uid=0, si_status=0} ---
15799 1795213147.372600 wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], WNOHANG, NULL) = 29485 <0.000012>
"#,
    r#"[pid   384] 04:11:12.487193 (+     0.000145) pipe2([3<pipe:[126]>, 4<pipe:[126]>], O_CLOEXEC) = 0 <0.000083>
[pid   384] 04:11:12.487381 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLDstrace: Process 386 attached
, child_tidptr=0x7f092f143590) = 386 <0.000406>
[pid   386] 04:11:12.488966 openat(AT_FDCWD</tmp>, "/tmp/we) = 5 ird>x<y", O_RDWR) = 5</tmp/we) = 5 ird\76x\74y> <0.000010>
[pid   386] 04:11:12.489045 write(5</dev/null<char 1:3>>, "xxxx"..., 50) = 50 <0.000008>
[pid   386] 04:11:12.489096 lseek(5<TCP:[127.0.0.1:5->10.0.0.1:5432]>, 10, SEEK_SET) = 10 <0.000003>
 > /usr/lib/x86_64-linux-gnu/libc.so.6(__lseek+0x29) [0xd4409]
23:59:59.999999 futex(0x7f5cded8a138, FUTEX_WAIT, 0, NULL) = 0 <0.1>
00:00:00.000001 +++ killed by SIGKILL (core dumped) +++
"#,
    r#"     0.000000 epoll_wait(4, [{events=EPOLLIN, data={u32=209871384}}], 1, -1) = 1
     0.000359 brk(0x562f59fea000) = 0x562f59fea000
     0.000120 execve("/bin/sh", ["sh"], 0x7ffcd1fe9138 /* 53 vars */) = 0
% time     seconds  usecs/call     calls    errors syscall
  4.03    0.000073          73         1           clone3
"#,
    "8195:\t 0.0300\t 0.0300\t 0.0002 fork1()\t\t\t\t\t= 8196\n\
     8196:\t 0.0301\t 0.0001\t 0.0001 fork1()\t\t(returning as child ...)\t= 8195\n\
     8195/1:\t 0.0402\t 0.0101\t 0.0001 read(14, \"\\0\\0\\0\".., 64)\t\t= 64\n\
     8195/1:\t 0.0403\t 0.0001\t 0.0001 open(\"/etc/hosts\", O_RDONLY)\tErr#2 ENOENT\n\
     8197:\t 0.0500\t 0.0016\t 0.0015 cladm(CL_CONFIG, 17, 0xFFFFFFFF7FFF4FB8)\t= 0\n\
     8195/1:\tpollsys(0x10041CDA8, 2, 0x00000000, 0x00000000) (sleeping...)\n\
     8195/1:\t    Received signal #18, SIGCLD [caught]\n\
     8195/1:\tAF_INET  name = 10.44.29.32  port = 41612\n",
    "     0.017 ( 0.010 ms): bash/123 read(fd: 3, buf: 0x7ffd, count: 832) = 832\n\
     0.030 (         ): bash/123 poll(ufds: 0x7ffd, nfds: 1, timeout_msecs: -1) ...\n\
     0.044 ( 0.014 ms): bash/123  ... [continued]: poll()) = 1\n\
     0.050 ( 0.002 ms): bash/123 openat(dfd: CWD, filename: /etc/x) = -1 ENOENT (No such file or directory)\n",
];

/// What damages: ends of texts and numbers, forms that mean something, bytes that are no text.
const SPLINTERS: &[&[u8]] = &[
    b"\"",
    b"\\",
    b"(",
    b")",
    b"<",
    b">",
    b" ",
    b"\n",
    b"\r",
    b"\0",
    b"\xff\xfe",
    b"= ",
    b") = ",
    b" = ?",
    b"-",
    b"0x",
    b"[pid ",
    b"<... ",
    b" resumed>",
    b" <unfinished ...>",
    b"9999999999999999999",
    b"18446744073709551616",
    b"-9223372036854775808",
    b" <-1.000000>",
    b" <1000000000000000000.000000>",
    b"strace: Process 1 attached",
    b"2147483648",
    b"4294967296",
];

/// xorshift64 (G. Marsaglia, "Xorshift RNGs", 2003): the same inputs on every machine.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit.max(1)
    }

    fn of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    /// Part of a text, from nothing to all of it.
    fn part<'a>(&mut self, text: &'a [u8]) -> &'a [u8] {
        let start = self.below(text.len() + 1);
        let len = self.below(text.len() - start + 1);
        &text[start..start + len]
    }

    fn damaged(&mut self) -> Vec<u8> {
        let mut log = self.of(LOGS).as_bytes().to_vec();
        for _ in 0..self.below(6) {
            self.damage(&mut log);
        }
        log
    }

    fn damage(&mut self, log: &mut Vec<u8>) {
        let at = self.below(log.len() + 1);
        let end = at + self.below((log.len() - at).min(60) + 1);
        match self.below(6) {
            0 if at < log.len() => log[at] ^= 1 << self.below(8),
            1 => log.truncate(at),
            2 => drop(log.drain(at..end)),
            3 => {
                let splinter = *self.of(SPLINTERS);
                log.splice(at..at, splinter.iter().copied());
            }
            4 => {
                let again = log[at..end].repeat(1 + self.below(3));
                log.splice(at..at, again);
            }
            _ => {
                let other = self.of(LOGS).as_bytes();
                log.splice(at..end, self.part(other).iter().copied());
            }
        }
    }

    fn layout(&mut self) -> Layout {
        Layout {
            tool: *self.of(&[Tool::Strace, Tool::Truss, Tool::PerfTrace]),
            clock: *self.of(&[Clock::None, Clock::Epoch, Clock::Day, Clock::Start, Clock::Line]),
            has_pid: self.below(2) == 0,
            has_delta: self.below(2) == 0,
            has_cpu: self.below(2) == 0,
            stamped_at_return: self.below(2) == 0,
        }
    }
}

/// A log in memory, as one chunk.
struct Once<'a>(Option<&'a [u8]>);

impl Source for Once<'_> {
    fn next_chunk(&mut self, chunk: &mut Vec<u8>) -> io::Result<bool> {
        chunk.clear();
        chunk.extend_from_slice(self.0.take().unwrap_or_default());
        Ok(!chunk.is_empty())
    }
}

fn analyse(log: &[u8], layout: Layout) {
    let mut digest = Digest::new(layout, 1000);
    pipeline::run(&mut Once(Some(log)), layout, &mut digest, 1).unwrap();
    digest.finish();
    let document = document::of_calls(&digest, Reading::default());
    assert!(matches!(document.told(), Value::Keyed(_)));
}

fn spans_lie_in_their_line(log: &[u8], layout: &Layout) {
    let parse = match layout.tool {
        Tool::Truss => truss::parse,
        _ => strace::parse,
    };
    let mut start = 0;
    for line in log.split(|&byte| byte == b'\n') {
        let end = start + line.len();
        let within =
            |span: Span| span.is_empty() || (span.start as usize >= start && (span.start + span.len) as usize <= end);
        match parse(layout, log, start, end) {
            Line::Event(event) => {
                for span in [event.name, event.arguments, event.error, event.remark, event.target] {
                    assert!(within(span), "{event:?}");
                }
            }
            Line::More(span) => assert!(within(span)),
            Line::Nothing | Line::Skip(_) => {}
        }
        start = end + 1;
    }
}

/// Prints the input when the test fails while it is tried.
struct Tried<'a>(&'a [u8], Layout);

impl Drop for Tried<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("input, read as {:?}:\n{}", self.1, self.0.escape_ascii());
        }
    }
}

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap())
}

#[test]
fn damaged_logs_are_survived() {
    let mut chance = Chance(setting("CALLTRACE_FUZZ_SEED", 1).max(1));
    let mut traces = 0_u64;
    let inputs = setting("CALLTRACE_FUZZ_INPUTS", 2000);
    for _ in 0..inputs {
        let log = chance.damaged();
        let mut tried = Tried(&log, chance.layout());
        if let Detected::Trace(detected) = detect(&log) {
            traces += 1;
            tried.1 = detected;
        }
        spans_lie_in_their_line(&log, &tried.1);
        analyse(&log, tried.1);
    }
    assert!(
        traces > inputs / 4,
        "damage is so heavy that only {traces} of {inputs} logs are still known"
    );
}
