//! How fast a whole trace is analysed: `cargo run --release --example analyse_speed -- LOG [THREADS]`.

use std::time::Instant;

use calltrace::analyse::{Request, analyse};

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().expect("a log");
    let threads = arguments.next().map_or(1, |threads| threads.parse().expect("a number"));
    let bytes = std::fs::metadata(&path)?.len();
    let request = Request {
        paths: vec![path.into()],
        threads,
        ..Request::default()
    };
    let mut read_until = Instant::now();
    let began = Instant::now();
    let document = analyse(&request, &mut |_| {
        read_until = Instant::now();
        Ok(())
    });
    let seconds = began.elapsed().as_secs_f64();
    let trace = document.expect("a trace").trace;
    let (read_s, rate) = ((read_until - began).as_secs_f64(), bytes as f64 / 1e6 / seconds);
    println!(
        "{} lines, {} calls: {seconds:.3} s, {read_s:.3} of them reading, {rate:.0} MB/s",
        trace.lines, trace.calls
    );
    let status = std::fs::read_to_string("/proc/self/status")?;
    println!(
        "{}",
        status
            .lines()
            .find(|line| line.starts_with("VmHWM"))
            .unwrap_or_default()
    );
    Ok(())
}
