//! How fast lines are parsed, without reading, joining or analysing them:
//! `cargo run --release -p calltrace --example parse_speed -- FILE [ROUNDS]`

use std::time::Instant;

use calltrace::event::Line;
use calltrace::strace;
use memchr::memchr_iter;

const HEAD_BYTES: usize = 65_536;
const CHUNK_BYTES: usize = 1 << 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: parse_speed FILE [ROUNDS]")?;
    let rounds: u32 = arguments.next().map_or(Ok(5), |text| text.parse())?;
    let text = std::fs::read(path)?;
    let head: Vec<&[u8]> = text[..text.len().min(HEAD_BYTES)]
        .split(|&byte| byte == b'\n')
        .collect();
    let layout = strace::sniff(&head).ok_or("no log of strace")?;
    for _ in 0..rounds {
        let began = Instant::now();
        let (mut lines, mut events, mut sum) = (0_u64, 0_u64, 0_u64);
        for chunk in text.chunks(CHUNK_BYTES) {
            let mut start = 0;
            for end in memchr_iter(b'\n', chunk) {
                if let Line::Event(event) = strace::parse(&layout, chunk, start, end) {
                    events += 1;
                    sum = sum.wrapping_add(event.site ^ event.result as u64 ^ event.elapsed_ns as u64);
                }
                lines += 1;
                start = end + 1;
            }
        }
        let seconds = began.elapsed().as_secs_f64();
        println!(
            "{:.0} MB/s, {:.1} ns a line; {lines} lines, {events} events, checksum {sum:x}",
            text.len() as f64 / 1e6 / seconds,
            seconds * 1e9 / lines as f64
        );
    }
    Ok(())
}
