//! Lines built from strace's grammar give back what they were built from, whatever their arguments hold.

use calltrace::event::{Kind, Line, NO_TIME};
use calltrace::layout::{Clock, Layout, Tool};
use calltrace::{names, strace};
use proptest::prelude::*;

/// How columns are written: with what clock, and how the process stands before it.
#[derive(Clone, Copy, Debug)]
enum Pid {
    Absent,
    Plain,
    Bracketed,
}

fn columns(clock: Clock, pid: Pid, number: u32, micros: i64) -> String {
    let process = match pid {
        Pid::Absent => String::new(),
        Pid::Plain => format!("{number:<5} "),
        Pid::Bracketed => format!("[pid {number:>5}] "),
    };
    let (seconds, rest) = (micros / 1_000_000, micros % 1_000_000);
    let stamp = match clock {
        Clock::Epoch => format!("{seconds}.{rest:06} "),
        Clock::Line => format!("{seconds:>6}.{rest:06} "),
        Clock::Day => {
            let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
            format!("{hours:02}:{minutes:02}:{seconds:02}.{rest:06} ")
        }
        Clock::None | Clock::Start => String::new(),
    };
    process + &stamp
}

fn stamp(clock: Clock) -> BoxedStrategy<i64> {
    match clock {
        Clock::Epoch => (100_000_000_000_000..9_000_000_000_000_000_i64).boxed(),
        Clock::Day => (0..86_400_000_000_i64).boxed(),
        _ => (0..99_999_000_000_i64).boxed(),
    }
}

/// Columns as text, with the layout, pid and time that they stand for.
fn any_columns() -> impl Strategy<Value = (Layout, u32, i64, String)> {
    let clock = prop_oneof![
        Just(Clock::None),
        Just(Clock::Epoch),
        Just(Clock::Day),
        Just(Clock::Line)
    ];
    let pid = prop_oneof![Just(Pid::Absent), Just(Pid::Plain), Just(Pid::Bracketed)];
    (clock, pid, 1..4_194_304_u32).prop_flat_map(|(clock, pid, number)| {
        stamp(clock).prop_map(move |micros| {
            let has_pid = !matches!(pid, Pid::Absent);
            let layout = Layout {
                tool: Tool::Strace,
                clock,
                has_pid,
                ..Layout::default()
            };
            let stamp_ns = if clock == Clock::None { NO_TIME } else { micros * 1000 };
            let number = if has_pid { number } else { 0 };
            (layout, number, stamp_ns, columns(clock, pid, number, micros))
        })
    })
}

fn argument() -> impl Strategy<Value = String> {
    let odd = prop_oneof![
        Just(") = 5".to_owned()),
        Just(" <0.000001>".to_owned()),
        Just(" <unfinished ...>".to_owned()),
        Just("strace: Process 1 attached".to_owned()),
        Just(r"\\".to_owned()),
        Just(r#"\""#.to_owned()),
        "[ -!#-\\[\\]-~]{0,12}",
    ];
    let text = prop::collection::vec(odd, 0..4).prop_map(|parts| format!("\"{}\"...", parts.concat()));
    prop_oneof![
        text,
        "-?[0-9]{1,9}",
        "0x[0-9a-f]{1,16}",
        "[A-Z_]{1,9}\\|[A-Z_]{1,9}",
        "~\\[[A-Z]{1,5} RT_1\\]",
        "\\{st_mode=S_IFREG\\|0644, st_size=[0-9]{1,9}, \\.\\.\\.\\}",
        "[0-9]{1,3}<(/[a-z) =.]{1,8}){1,3}>",
        "[0-9]{1,3}<TCP:\\[127.0.0.1:[0-9]{1,5}->10.0.0.1:5432\\]>",
    ]
}

fn arguments() -> impl Strategy<Value = String> {
    prop::collection::vec(argument(), 0..6).prop_map(|all| all.join(", "))
}

/// The text of a result, with its number and the name of its error.
fn outcome() -> impl Strategy<Value = (String, Option<i64>, &'static str)> {
    prop_oneof![
        any::<i32>().prop_map(|number| (number.to_string(), Some(number.into()), "")),
        any::<u32>().prop_map(|number| (format!("{number:#x}"), Some(number.into()), "")),
        (0..1024_i64).prop_map(|fd| (format!("{fd}</tmp/x) = 5 y>"), Some(fd), "")),
        (0..9_i64).prop_map(|n| (format!("{n} (in [5], left {{tv_sec=38}})"), Some(n), "")),
        Just(("-1 ENOENT (No such file or directory)".to_owned(), None, "ENOENT")),
        Just((
            "? ERESTARTSYS (To be restarted if SA_RESTART is set)".to_owned(),
            None,
            "ERESTARTSYS"
        )),
    ]
}

fn elapsed() -> impl Strategy<Value = (i64, String)> {
    prop_oneof![
        Just((NO_TIME, String::new())),
        (0..9_000_000_000_i64).prop_map(|micros| {
            (
                micros * 1000,
                format!(" <{}.{:06}>", micros / 1_000_000, micros % 1_000_000),
            )
        }),
        (0..9_000_000_000_i64).prop_map(|ns| (ns, format!(" <{}.{:09}>", ns / 1_000_000_000, ns % 1_000_000_000))),
    ]
}

fn name() -> impl Strategy<Value = String> {
    let known = (1..names::CALLS.len()).prop_map(|call| names::CALLS[call].0.to_owned());
    prop_oneof![known, "[a-z_][a-z0-9_]{0,30}", Just("????".to_owned())]
}

proptest! {
    #[test]
    fn calls_are_given_back(
        (layout, pid, stamp_ns, columns) in any_columns(),
        name in name(),
        arguments in arguments(),
        (value, result, error) in outcome(),
        (elapsed_ns, elapsed) in elapsed(),
        padding in 1..9_usize,
        before in "[a-z\n]{0,20}",
    ) {
        let text = format!("{columns}{name}({arguments}){}= {value}{elapsed}", " ".repeat(padding));
        let chunk = format!("{before}{text}\n");
        let parsed = strace::parse(&layout, chunk.as_bytes(), before.len(), chunk.len() - 1);
        let Line::Event(event) = parsed else { panic!("{chunk}: {parsed:?}") };
        let of = |span: calltrace::event::Span| std::str::from_utf8(span.of(chunk.as_bytes())).unwrap().to_owned();
        prop_assert_eq!((event.kind, event.pid, event.stamp_ns, event.elapsed_ns), (Kind::Call, pid, stamp_ns, elapsed_ns));
        prop_assert_eq!((of(event.name), of(event.arguments)), (name.clone(), arguments));
        prop_assert_eq!(event.call, names::index(name.as_bytes()));
        prop_assert_eq!((event.result, of(event.error)), (result.unwrap_or(calltrace::event::NO_NUMBER), error.to_owned()));
    }

    #[test]
    fn halves_of_calls_are_given_back(
        (layout, pid, stamp_ns, columns) in any_columns(),
        name in name(),
        arguments in arguments(),
        (value, _, _) in outcome(),
    ) {
        for (text, kind) in [
            (format!("{columns}{name}({arguments} <unfinished ...>"), Kind::Unfinished),
            (format!("{columns}<... {name} resumed>{arguments}) = {value} <0.000012>"), Kind::Resumed),
        ] {
            let parsed = strace::parse(&layout, text.as_bytes(), 0, text.len());
            let Line::Event(event) = parsed else { panic!("{text}: {parsed:?}") };
            prop_assert_eq!((event.kind, event.pid, event.stamp_ns), (kind, pid, stamp_ns));
            prop_assert_eq!(event.name.of(text.as_bytes()), name.as_bytes());
            prop_assert_eq!(event.arguments.of(text.as_bytes()), arguments.as_bytes());
        }
    }

    #[test]
    fn any_bytes_are_survived((layout, ..) in any_columns(), line in prop::collection::vec(any::<u8>(), 0..200)) {
        strace::parse(&layout, &line, 0, line.len());
        strace::sniff(&[&line]);
    }
}
