//! Sums by call stack, where the trace has stacks (strace -k) and they are wanted.

use rustc_hash::FxHashMap;

/// Calls from one place in the program.
#[derive(Clone, Debug, Default)]
pub struct StackSum {
    /// Index in `Journal::calls`.
    pub call: u16,
    /// `function` or `library` of each frame, the innermost first.
    pub frames: Vec<String>,
    pub count: u64,
    pub seconds: f64,
}

/// Beyond these many, new stacks are not told apart.
const MOST_STACKS: usize = 20_000;
const MOST_FRAMES: usize = 64;

/// Gathers the frames that follow a call, until the next line that is none.
#[derive(Default)]
pub struct Stacks {
    pub wanted: bool,
    pub sums: FxHashMap<(u16, String), StackSum>,
    call: u16,
    seconds: f64,
    frames: Vec<String>,
}

impl Stacks {
    /// A call was recorded: frames that follow are its own.
    pub fn begin(&mut self, call: u16, elapsed_ns: Option<u64>) {
        self.finish();
        self.call = call;
        self.seconds = elapsed_ns.unwrap_or(0) as f64 / 1e9;
    }

    pub fn frame(&mut self, text: &[u8]) {
        if self.frames.len() < MOST_FRAMES {
            self.frames.push(function(text));
        }
    }

    pub fn finish(&mut self) {
        if self.frames.is_empty() {
            return;
        }
        let frames = std::mem::take(&mut self.frames);
        let full = self.sums.len() >= MOST_STACKS;
        let key = (self.call, if full { String::new() } else { frames.join(";") });
        let sum = self.sums.entry(key).or_insert_with(|| StackSum {
            call: self.call,
            frames: if full { vec!["...".to_owned()] } else { frames },
            ..StackSum::default()
        });
        sum.count += 1;
        sum.seconds += self.seconds;
    }
}

/// The function of ` > /usr/lib/libc.so.6(read+0xd) [0x10e]`; the file's name where it has none.
fn function(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let text = text.trim().trim_start_matches("> ");
    let (file, rest) = text.split_once('(').unwrap_or((text, ""));
    let name = rest.split(['+', ')']).next().unwrap_or_default();
    if name.is_empty() {
        let file = file.split(" [").next().unwrap_or(file);
        return file.rsplit('/').next().unwrap_or(file).trim().to_owned();
    }
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_summed_by_the_functions_that_made_them() {
        let mut stacks = Stacks::default();
        for _ in 0..2 {
            stacks.begin(3, Some(1_000_000_000));
            stacks.frame(b" > /usr/lib/x86_64-linux-gnu/libc.so.6(read+0xd) [0xf818d]");
            stacks.frame(b" > /usr/lib/postgresql/15/bin/postgres() [0x1234]");
        }
        stacks.finish();
        let sums: Vec<&StackSum> = stacks.sums.values().collect();
        assert_eq!((sums.len(), sums[0].count, sums[0].seconds), (1, 2, 2.0));
        assert_eq!(sums[0].frames, ["read", "postgres"]);
    }
}
