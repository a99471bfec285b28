//! Another effective user for the calling thread: the C library's own calls change all threads of the process.

use std::io;

use libc::c_long;
use pyo3::prelude::*;

use crate::lake::python_error;

/// What the system call setresuid(2) leaves as it is.
const UNCHANGED: c_long = -1;

/// Makes a user the effective one of this thread. An OSError where the kernel refuses.
#[pyfunction]
pub fn act_as(user_id: u32) -> PyResult<()> {
    // SAFETY: the call takes three numbers, and touches no memory.
    match unsafe { libc::syscall(libc::SYS_setresuid, UNCHANGED, c_long::from(user_id), UNCHANGED) } {
        0 => Ok(()),
        _ => Err(python_error(io::Error::last_os_error())),
    }
}
