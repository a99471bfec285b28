//! Puts BPF instructions together: so few are needed that no compiler is, neither here nor on the host.
//!
//! Source: Linux, Documentation/bpf/standardization/instruction-set.rst.

use std::collections::HashMap;

/// An instruction as the kernel takes it: operation, registers, offset, constant.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Instruction {
    operation: u8,
    registers: u8,
    offset: i16,
    constant: i32,
}

/// What a helper returns, its five arguments, what a helper leaves as it was, and the end of the stack.
#[derive(Clone, Copy)]
pub struct Register(u8);
pub const R0: Register = Register(0);
pub const R1: Register = Register(1);
pub const R2: Register = Register(2);
pub const R3: Register = Register(3);
pub const R4: Register = Register(4);
pub const R5: Register = Register(5);
pub const R6: Register = Register(6);
pub const R7: Register = Register(7);
pub const R8: Register = Register(8);
pub const R9: Register = Register(9);
pub const STACK: Register = Register(10);

/// Helpers of the kernel (bpf-helpers(7)) by number.
#[derive(Clone, Copy)]
#[repr(i32)]
pub enum Helper {
    MapLookup = 1,
    MapUpdate = 2,
    MapDelete = 3,
    KtimeNs = 5,
    PidTgid = 14,
    ReadKernel = 113,
}

/// When to jump; comparisons are unsigned unless they say otherwise.
#[derive(Clone, Copy)]
pub enum When {
    Equal = 0x10,
    Greater = 0x20,
    Different = 0x50,
    NotNegative = 0x70,
}

/// A place to jump to, later in the program.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Label(usize);

const FROM_REGISTER: u8 = 0x08;
const MAP_DESCRIPTOR: u8 = 1;

#[derive(Default)]
pub struct Assembler {
    code: Vec<Instruction>,
    labels: usize,
    places: HashMap<Label, usize>,
    jumps: Vec<(usize, Label)>,
}

impl Assembler {
    pub fn copy(&mut self, to: Register, from: Register) {
        self.put(0xbf, to, from, 0, 0);
    }

    pub fn set(&mut self, to: Register, value: i32) {
        self.put(0xb7, to, R0, 0, value);
    }

    pub fn add(&mut self, to: Register, from: Register) {
        self.put(0x0f, to, from, 0, 0);
    }

    pub fn add_constant(&mut self, to: Register, value: i32) {
        self.put(0x07, to, R0, 0, value);
    }

    pub fn subtract(&mut self, to: Register, from: Register) {
        self.put(0x1f, to, from, 0, 0);
    }

    pub fn shift_left(&mut self, to: Register, bits: i32) {
        self.put(0x67, to, R0, 0, bits);
    }

    pub fn shift_right(&mut self, to: Register, bits: i32) {
        self.put(0x77, to, R0, 0, bits);
    }

    pub fn load(&mut self, to: Register, base: Register, offset: i16) {
        self.put(0x79, to, base, offset, 0);
    }

    pub fn load_u32(&mut self, to: Register, base: Register, offset: i16) {
        self.put(0x61, to, base, offset, 0);
    }

    pub fn store(&mut self, base: Register, offset: i16, from: Register) {
        self.put(0x7b, base, from, offset, 0);
    }

    pub fn store_u32(&mut self, base: Register, offset: i16, from: Register) {
        self.put(0x63, base, from, offset, 0);
    }

    pub fn store_constant(&mut self, base: Register, offset: i16, value: i32) {
        self.put(0x7a, base, R0, offset, value);
    }

    pub fn store_constant_u32(&mut self, base: Register, offset: i16, value: i32) {
        self.put(0x62, base, R0, offset, value);
    }

    /// Adds one to a number in memory.
    pub fn count(&mut self, base: Register, offset: i16) {
        self.load(R1, base, offset);
        self.add_constant(R1, 1);
        self.store(base, offset, R1);
    }

    pub fn call(&mut self, helper: Helper) {
        self.put(0x85, R0, R0, 0, helper as i32);
    }

    /// The address of a map into a register.
    pub fn map(&mut self, to: Register, descriptor: i32) {
        self.put(0x18, to, Register(MAP_DESCRIPTOR), 0, descriptor);
        self.put(0, R0, R0, 0, 0);
    }

    pub fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels)
    }

    pub fn jump(&mut self, to: Label) {
        self.jumps.push((self.code.len(), to));
        self.put(0x05, R0, R0, 0, 0);
    }

    pub fn jump_if(&mut self, left: Register, when: When, right: i32, to: Label) {
        self.jumps.push((self.code.len(), to));
        self.put(0x05 | when as u8, left, R0, 0, right);
    }

    pub fn jump_if_registers(&mut self, left: Register, when: When, right: Register, to: Label) {
        self.jumps.push((self.code.len(), to));
        self.put(0x05 | FROM_REGISTER | when as u8, left, right, 0, 0);
    }

    /// Here is where a label stands.
    pub fn place(&mut self, label: Label) {
        self.places.insert(label, self.code.len());
    }

    /// The whole program, which ends here with 0.
    pub fn end(mut self) -> Vec<Instruction> {
        self.set(R0, 0);
        self.put(0x95, R0, R0, 0, 0);
        for (at, label) in self.jumps {
            self.code[at].offset = (self.places[&label] - at - 1) as i16;
        }
        self.code
    }

    fn put(&mut self, operation: u8, to: Register, from: Register, offset: i16, constant: i32) {
        let registers = to.0 | from.0 << 4;
        self.code.push(Instruction {
            operation,
            registers,
            offset,
            constant,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_as_the_kernel_takes_them() {
        let mut program = Assembler::default();
        let out = program.label();
        program.copy(R6, R1);
        program.jump_if(R6, When::Equal, 7, out);
        program.store_u32(STACK, -4, R6);
        program.place(out);
        let code = program.end();
        let bytes: Vec<(u8, u8, i16, i32)> = code
            .iter()
            .map(|each| (each.operation, each.registers, each.offset, each.constant))
            .collect();
        assert_eq!(
            bytes,
            [
                (0xbf, 0x16, 0, 0),
                (0x15, 0x06, 1, 7),
                (0x63, 0x6a, -4, 0),
                (0xb7, 0, 0, 0),
                (0x95, 0, 0, 0)
            ]
        );
    }

    #[test]
    fn a_map_takes_two_instructions() {
        let mut program = Assembler::default();
        program.map(R1, 5);
        let code = program.end();
        assert_eq!(code.len(), 4);
        assert_eq!(
            (code[0].operation, code[0].registers, code[0].constant),
            (0x18, 0x11, 5)
        );
    }
}
