//! Names of users, asked once per number.

use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::Arc;

#[derive(Default)]
pub struct Users {
    names: HashMap<u32, Arc<str>>,
}

impl Users {
    /// The user's name, or the number where the machine knows none.
    pub fn name(&mut self, uid: u32) -> Arc<str> {
        let known = self.names.entry(uid);
        known
            .or_insert_with(|| look_up(uid).unwrap_or_else(|| uid.to_string()).into())
            .clone()
    }
}

fn look_up(uid: u32) -> Option<String> {
    let mut entry = std::mem::MaybeUninit::<libc::passwd>::uninit();
    let mut found = std::ptr::null_mut();
    let mut buffer = [0 as libc::c_char; 4096];
    // SAFETY: all pointers outlive the call; `found` points to the filled entry, whose name lies in the buffer, or is null.
    unsafe {
        libc::getpwuid_r(uid, entry.as_mut_ptr(), buffer.as_mut_ptr(), buffer.len(), &mut found);
        if found.is_null() {
            return None;
        }
        CStr::from_ptr((*found).pw_name).to_str().ok().map(str::to_string)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_has_a_name_and_a_stranger_a_number() {
        let mut users = Users::default();
        assert_eq!(&*users.name(0), "root");
        assert_eq!(&*users.name(3_999_999_999), "3999999999");
    }
}
