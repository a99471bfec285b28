//! How fast a whole trace is analysed: `cargo run --release --example analyse_speed -- LOG [THREADS]`.

use std::time::Instant;

use calltrace::detect::{Detected, detect};
use calltrace::digest::{Digest, MOST_DETAIL};
use calltrace::document;
use calltrace::input::Input;
use calltrace::pipeline::{self, Source};

struct Chunks(Option<Vec<u8>>, Input);

impl Source for Chunks {
    fn next_chunk(&mut self, chunk: &mut Vec<u8>) -> std::io::Result<bool> {
        if let Some(head) = self.0.take() {
            *chunk = head;
            return Ok(true);
        }
        self.1.next_chunk(chunk)
    }
}

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().expect("a log");
    let threads = arguments.next().map_or(1, |threads| threads.parse().expect("a number"));
    let bytes = std::fs::metadata(&path)?.len();
    let began = Instant::now();
    let mut input = Input::open(path.as_ref())?;
    let mut head = Vec::new();
    input.next_chunk(&mut head)?;
    let Detected::Trace(layout) = detect(&head) else {
        panic!("no trace");
    };
    let mut digest = Digest::new(layout, MOST_DETAIL);
    pipeline::run(&mut Chunks(Some(head), input), layout, &mut digest, threads)?;
    digest.finish();
    let digested = began.elapsed();
    let document = document::of_calls(&digest, vec![path], bytes, Vec::new());
    let text = serde_json::to_vec(&document)?;
    println!(
        "{} lines, {} calls, document {} bytes",
        digest.lines,
        document.trace.calls,
        text.len()
    );
    println!(
        "digest {:.3} s, {:.0} MB/s; all {:.3} s",
        digested.as_secs_f64(),
        bytes as f64 / 1e6 / digested.as_secs_f64(),
        began.elapsed().as_secs_f64()
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
