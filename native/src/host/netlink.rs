//! Just enough netlink to ask the kernel a question and read its answers (RFC 3549).

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

pub const HEADER: usize = 16;
pub const REQUEST: u16 = 1;
pub const ACKNOWLEDGE: u16 = 4;
pub const DUMP: u16 = 0x300;
pub const ERROR: u16 = 2;
pub const DONE: u16 = 3;

/// Nothing answers later than this; the kernel answers at once or not at all.
static PATIENCE: libc::timeval = libc::timeval { tv_sec: 1, tv_usec: 0 };

pub struct Socket {
    descriptor: OwnedFd,
    buffer: Vec<u8>,
}

impl Socket {
    pub fn open(protocol: i32) -> io::Result<Self> {
        // SAFETY: the calls get valid arguments, and the descriptor is owned from the line after it was made.
        let descriptor = unsafe {
            match libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, protocol) {
                -1 => return Err(io::Error::last_os_error()),
                raw => OwnedFd::from_raw_fd(raw),
            }
        };
        // SAFETY: the option's address and length belong to PATIENCE.
        let set = unsafe {
            libc::setsockopt(
                descriptor.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_RCVTIMEO,
                (&raw const PATIENCE).cast(),
                size_of::<libc::timeval>() as libc::socklen_t,
            )
        };
        match set {
            0 => Ok(Self {
                descriptor,
                buffer: vec![0; 32768],
            }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Sends one or more messages.
    pub fn send(&self, messages: &[u8]) -> io::Result<()> {
        // SAFETY: pointer and length belong to the slice.
        let sent = unsafe { libc::send(self.descriptor.as_raw_fd(), messages.as_ptr().cast(), messages.len(), 0) };
        if sent < 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(())
        }
    }

    /// Lets up to so many bytes wait to be received, beyond the limit for everybody: it needs CAP_NET_ADMIN.
    pub fn hold(&self, bytes: usize) -> io::Result<()> {
        let bytes = bytes as libc::c_int;
        // SAFETY: the option's address and length belong to `bytes`.
        let set = unsafe {
            libc::setsockopt(
                self.descriptor.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_RCVBUFFORCE,
                (&raw const bytes).cast(),
                size_of::<libc::c_int>() as libc::socklen_t,
            )
        };
        if set == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }

    /// The next datagram of answers; `Messages` walks over it.
    pub fn receive(&mut self) -> io::Result<Messages<'_>> {
        self.receive_as(0)
    }

    /// The next datagram that is there already; nothing when none is.
    pub fn receive_ready(&mut self) -> io::Result<Option<Messages<'_>>> {
        match self.receive_as(libc::MSG_DONTWAIT) {
            Ok(messages) => Ok(Some(messages)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The kernel's word on a request that asked for one.
    pub fn acknowledged(&mut self) -> io::Result<()> {
        let code = match self.receive()?.next() {
            Some(message) if message.kind == ERROR => u32_at(message.payload, 0).unwrap_or(0) as i32,
            _ => return Err(io::ErrorKind::InvalidData.into()),
        };
        if code == 0 {
            Ok(())
        } else {
            Err(io::Error::from_raw_os_error(-code))
        }
    }

    fn receive_as(&mut self, flags: libc::c_int) -> io::Result<Messages<'_>> {
        loop {
            // SAFETY: pointer and length belong to the buffer.
            let received = unsafe {
                libc::recv(
                    self.descriptor.as_raw_fd(),
                    self.buffer.as_mut_ptr().cast(),
                    self.buffer.len(),
                    flags,
                )
            };
            match usize::try_from(received) {
                Ok(length) => return Ok(Messages(&self.buffer[..length])),
                Err(_) => {
                    let error = io::Error::last_os_error();
                    if error.kind() != io::ErrorKind::Interrupted {
                        return Err(error);
                    }
                }
            }
        }
    }
}

/// One message of an answer.
pub struct Message<'a> {
    pub kind: u16,
    pub sequence: u32,
    pub payload: &'a [u8],
}

pub struct Messages<'a>(&'a [u8]);

impl<'a> Iterator for Messages<'a> {
    type Item = Message<'a>;

    fn next(&mut self) -> Option<Message<'a>> {
        let length = u32_at(self.0, 0)? as usize;
        let message = self.0.get(..length).filter(|_| length >= HEADER)?;
        self.0 = self.0.get(aligned(length)..).unwrap_or_default();
        Some(Message {
            kind: u16_at(message, 4)?,
            sequence: u32_at(message, 8)?,
            payload: &message[HEADER..],
        })
    }
}

/// Type and content of each attribute.
pub fn attributes(mut rest: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(u16_at(rest, 0)?);
        let attribute = rest.get(..length).filter(|_| length >= 4)?;
        rest = rest.get(aligned(length)..).unwrap_or_default();
        Some((u16_at(attribute, 2)?, &attribute[4..]))
    })
}

/// Appends a message; `content` follows the header.
pub fn push_message(messages: &mut Vec<u8>, kind: u16, flags: u16, sequence: u32, content: &[u8]) {
    let length = HEADER + content.len();
    messages.extend_from_slice(&(length as u32).to_ne_bytes());
    messages.extend_from_slice(&kind.to_ne_bytes());
    messages.extend_from_slice(&flags.to_ne_bytes());
    messages.extend_from_slice(&sequence.to_ne_bytes());
    messages.extend_from_slice(&[0; 4]);
    messages.extend_from_slice(content);
    messages.resize(messages.len() + aligned(length) - length, 0);
}

/// Appends an attribute.
pub fn push_attribute(content: &mut Vec<u8>, kind: u16, value: &[u8]) {
    let length = 4 + value.len();
    content.extend_from_slice(&(length as u16).to_ne_bytes());
    content.extend_from_slice(&kind.to_ne_bytes());
    content.extend_from_slice(value);
    content.resize(content.len() + aligned(length) - length, 0);
}

fn aligned(length: usize) -> usize {
    length.next_multiple_of(4)
}

pub fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

pub fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

pub fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_and_attributes_come_back_as_they_were_put() {
        let (mut content, mut bytes) = (Vec::new(), Vec::new());
        push_attribute(&mut content, 2, b"abcde");
        push_attribute(&mut content, 1, &7u32.to_ne_bytes());
        push_message(&mut bytes, 31, REQUEST, 5, &content);
        push_message(&mut bytes, DONE, 0, 6, &[]);
        let messages: Vec<_> = Messages(&bytes).collect();
        assert_eq!(
            (messages[0].kind, messages[0].sequence, messages[1].kind),
            (31, 5, DONE)
        );
        let found: Vec<_> = attributes(messages[0].payload).collect();
        assert_eq!(found, [(2, &b"abcde"[..]), (1, &7u32.to_ne_bytes()[..])]);
    }

    #[test]
    fn cut_off_bytes_end_the_walk() {
        let mut bytes = Vec::new();
        push_message(&mut bytes, 31, REQUEST, 5, &[0; 8]);
        assert_eq!(Messages(&bytes[..20]).count(), 0);
        assert_eq!(Messages(&[0; 64]).count(), 0);
    }
}
