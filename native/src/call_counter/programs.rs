//! The programs that count in the kernel, at the beginning and the end of system calls, and of processes.
//!
//! A thread that is looked at has an entry in `threads`, which those that it forks inherit: of all others a call costs no
//! more than the look that finds none. Counts are kept by CPU, so that no two ever wait for each other.

use super::assembler::{Assembler, Helper, Instruction, Label, Register, When};
use super::assembler::{R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, STACK};

/// A thread: when its call began, when its last wait for work ended, the call's number, whether it belongs to the process
/// whose passes are timed, and whether it has accepted a connection since.
pub const THREAD_BYTES: usize = 32;
const BEGAN: i16 = 0;
const BACK: i16 = 8;
const CALL: i16 = 16;
pub const WATCHED: i16 = 20;
const ACCEPTED: i16 = 24;

/// A distribution: how many, nanoseconds in all, the longest, and how many by powers of two of nanoseconds.
pub const BUCKETS: usize = 40;
pub const DISTRIBUTION_WORDS: usize = 3 + BUCKETS;
const NS: i16 = 8;
const LONGEST: i16 = 16;
const HISTOGRAM: i16 = 24;
const DISTRIBUTION_BYTES: i16 = 8 * DISTRIBUTION_WORDS as i16;

/// Calls by number: their times, how many failed, and how many were waits for work of the process that is timed.
pub const CALLS: u32 = 512;
pub const CALL_WORDS: usize = DISTRIBUTION_WORDS + 2;
const ERRORS: i16 = DISTRIBUTION_BYTES;
const WAITS: i16 = ERRORS + 8;

/// Passes of the process that is timed: all, those in which it accepted, how many it accepted, nanoseconds it waited.
pub const PASSES_WORDS: usize = 2 * DISTRIBUTION_WORDS + 2;
const ACCEPTING: i16 = DISTRIBUTION_BYTES;
const ACCEPTS: i16 = 2 * DISTRIBUTION_BYTES;
const WAITED_NS: i16 = ACCEPTS + 8;

/// What all programs know: descriptors of maps, and numbers of calls that wait for work, and that accept.
pub struct Known<'a> {
    pub threads: i32,
    pub calls: i32,
    pub passes: i32,
    pub idle: &'a [i32],
    pub accept: &'a [i32],
}

/// A word of the tracepoint's arguments.
const fn argument(number: i16) -> i16 {
    8 * number
}

/// sys_enter(registers, number)
pub fn enter(known: &Known) -> Vec<Instruction> {
    let mut code = Assembler::default();
    let out = code.label();
    this_thread(&mut code, known, out);
    code.load(R8, R6, argument(1));
    code.call(Helper::KtimeNs);
    code.store(R7, BEGAN, R0);
    code.store_u32(R7, CALL, R8);
    unless_watched(&mut code, out);
    if_any(&mut code, R8, known.idle, |code| {
        code.load(R1, R7, BACK);
        code.jump_if(R1, When::Equal, 0, out);
        code.copy(R8, R0);
        code.subtract(R8, R1);
        code.store_constant(R7, BACK, 0);
        passes(code, known, out);
        code.copy(R9, R0);
        add_time(code, R9, 0);
        code.load(R1, R7, ACCEPTED);
        code.jump_if(R1, When::Equal, 0, out);
        add_time(code, R9, ACCEPTING);
    });
    code.place(out);
    code.end()
}

/// sys_exit(registers, result)
pub fn exit(known: &Known) -> Vec<Instruction> {
    let mut code = Assembler::default();
    let (out, well) = (code.label(), code.label());
    this_thread(&mut code, known, out);
    code.load(R8, R7, BEGAN);
    code.jump_if(R8, When::Equal, 0, out);
    code.store_constant(R7, BEGAN, 0);
    code.call(Helper::KtimeNs);
    code.copy(R9, R0);
    code.subtract(R0, R8);
    code.copy(R8, R0);
    code.load_u32(R1, R7, CALL);
    code.store_u32(STACK, -4, R1);
    look_up(&mut code, known.calls, out);
    add_time(&mut code, R0, 0);
    code.load(R1, R6, argument(1));
    code.jump_if(R1, When::NotNegative, 0, well);
    code.count(R0, ERRORS);
    code.place(well);
    unless_watched(&mut code, out);
    code.load_u32(R2, R7, CALL);
    if_any(&mut code, R2, known.idle, |code| {
        code.count(R0, WAITS);
        code.store(R7, BACK, R9);
        code.store_constant(R7, ACCEPTED, 0);
        passes(code, known, out);
        code.load(R1, R0, WAITED_NS);
        code.add(R1, R8);
        code.store(R0, WAITED_NS, R1);
        code.jump(out);
    });
    if_any(&mut code, R2, known.accept, |code| {
        let accepted = code.label();
        code.load(R1, R6, argument(1));
        code.jump_if(R1, When::NotNegative, 0, accepted);
        code.jump(out);
        code.place(accepted);
        code.store_constant(R7, ACCEPTED, 1);
        passes(code, known, out);
        code.count(R0, ACCEPTS);
    });
    code.place(out);
    code.end()
}

/// sched_process_fork(parent, child): what a thread that is looked at forks is looked at, too.
pub fn fork(known: &Known, [pid, tgid]: [u32; 2]) -> Vec<Instruction> {
    const CHILD: i16 = -8;
    const CHILD_PROCESS: i16 = -12;
    const ENTRY: i16 = -16 - THREAD_BYTES as i16;
    let mut code = Assembler::default();
    let (out, insert) = (code.label(), code.label());
    this_thread(&mut code, known, out);
    for (place, offset) in [(CHILD, pid), (CHILD_PROCESS, tgid)] {
        code.store_constant_u32(STACK, place, 0);
        code.copy(R1, STACK);
        code.add_constant(R1, place.into());
        code.set(R2, 4);
        code.load(R3, R6, argument(1));
        code.add_constant(R3, offset as i32);
        code.call(Helper::ReadKernel);
    }
    for word in 0..THREAD_BYTES as i16 / 8 {
        code.store_constant(STACK, ENTRY + 8 * word, 0);
    }
    code.call(Helper::PidTgid);
    code.shift_right(R0, 32);
    code.load_u32(R1, STACK, CHILD_PROCESS);
    code.jump_if_registers(R0, When::Different, R1, insert);
    code.load_u32(R1, R7, WATCHED); // a thread of the same process
    code.store_u32(STACK, ENTRY + WATCHED, R1);
    code.place(insert);
    code.map(R1, known.threads);
    code.copy(R2, STACK);
    code.add_constant(R2, CHILD.into());
    code.copy(R3, STACK);
    code.add_constant(R3, ENTRY.into());
    code.set(R4, 0);
    code.call(Helper::MapUpdate);
    code.place(out);
    code.end()
}

/// sched_process_exit(task): its number may be another's next.
pub fn end(known: &Known) -> Vec<Instruction> {
    let mut code = Assembler::default();
    code.call(Helper::PidTgid);
    code.store_u32(STACK, -4, R0);
    code.map(R1, known.threads);
    code.copy(R2, STACK);
    code.add_constant(R2, -4);
    code.call(Helper::MapDelete);
    code.end()
}

/// The arguments into R6, and this thread's entry into R7, if it has one.
fn this_thread(code: &mut Assembler, known: &Known, none: Label) {
    code.copy(R6, R1);
    code.call(Helper::PidTgid);
    code.store_u32(STACK, -4, R0);
    look_up(code, known.threads, none);
    code.copy(R7, R0);
}

/// What a map has at the number at the end of the stack, into R0.
fn look_up(code: &mut Assembler, map: i32, none: Label) {
    code.map(R1, map);
    code.copy(R2, STACK);
    code.add_constant(R2, -4);
    code.call(Helper::MapLookup);
    code.jump_if(R0, When::Equal, 0, none);
}

fn passes(code: &mut Assembler, known: &Known, none: Label) {
    code.store_constant_u32(STACK, -4, 0);
    look_up(code, known.passes, none);
}

fn unless_watched(code: &mut Assembler, out: Label) {
    code.load_u32(R1, R7, WATCHED);
    code.jump_if(R1, When::Equal, 0, out);
}

/// What is done if a number is one of some; nothing where there are none: the kernel refuses what is never reached.
fn if_any(code: &mut Assembler, number: Register, of: &[i32], then: impl FnOnce(&mut Assembler)) {
    if of.is_empty() {
        return;
    }
    let (found, other) = (code.label(), code.label());
    for call in of {
        code.jump_if(number, When::Equal, *call, found);
    }
    code.jump(other);
    code.place(found);
    then(code);
    code.place(other);
}

/// Adds the nanoseconds in R8 to the distribution at a place; R1 to R5 are used.
fn add_time(code: &mut Assembler, base: Register, at: i16) {
    code.count(base, at);
    code.load(R1, base, at + NS);
    code.add(R1, R8);
    code.store(base, at + NS, R1);
    let not_longer = code.label();
    code.load(R1, base, at + LONGEST);
    code.jump_if_registers(R1, When::Greater, R8, not_longer);
    code.store(base, at + LONGEST, R8);
    code.place(not_longer);
    bucket(code);
    code.copy(R5, base);
    code.add(R5, R4);
    code.count(R5, at + HISTOGRAM);
}

/// The power of two below the nanoseconds in R8, times eight, into R4.
fn bucket(code: &mut Assembler) {
    code.copy(R3, R8);
    code.set(R4, 0);
    for bits in [32, 16, 8, 4, 2, 1] {
        let less = code.label();
        code.copy(R5, R3);
        code.shift_right(R5, bits);
        code.jump_if(R5, When::Equal, 0, less);
        code.copy(R3, R5);
        code.add_constant(R4, bits);
        code.place(less);
    }
    let (within, last) = (code.label(), BUCKETS as i32 - 1);
    let beyond = code.label();
    code.jump_if(R4, When::Greater, last, beyond);
    code.jump(within);
    code.place(beyond);
    code.set(R4, last);
    code.place(within);
    code.shift_left(R4, 3);
}
