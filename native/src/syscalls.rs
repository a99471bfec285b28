//! Numbers of system calls on this machine, and their names.

use std::str::FromStr;

use pyo3::prelude::*;
use syscalls::Sysno;

/// Name of a system call; None when this machine has none of that number.
#[pyfunction]
pub fn syscall_name(number: usize) -> Option<&'static str> {
    Sysno::new(number).map(|call| call.name())
}

/// Number of a system call; None when this machine has none of that name.
#[pyfunction]
pub fn syscall_number(name: &str) -> Option<usize> {
    Sysno::from_str(name).ok().map(|call| call.id() as usize)
}
