//! Questions to the kernel, and its answers: netlink's messages and attributes.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, recv, sendto, socket,
};

// From `linux/netlink.h`.
const ERROR: u16 = 2;
const DONE: u16 = 3;
const REQUEST: u16 = 1;
/// Flag of a question for all objects.
pub(crate) const DUMP: u16 = 0x300;
/// Flag of a request whose end the kernel reports.
pub(crate) const ACKNOWLEDGE: u16 = 4;

/// Lengths of the headers of a message and of an attribute.
const MESSAGE: usize = 16;
const ATTRIBUTE: usize = 4;
/// The kernel's largest page of answers.
const MOST_ANSWER: usize = 1 << 16;

/// A connection with a part of the kernel.
pub(crate) struct Kernel {
    socket: OwnedFd,
    answer: Vec<u8>,
}

impl Kernel {
    pub(crate) fn open(protocol: SockProtocol) -> io::Result<Kernel> {
        let (kind, flags) = (SockType::Raw, SockFlag::SOCK_CLOEXEC);
        let socket = socket(AddressFamily::Netlink, kind, flags, protocol)?;
        Ok(Kernel { socket, answer: vec![0; MOST_ANSWER] })
    }

    /// Sends a message with [`DUMP`] or [`ACKNOWLEDGE`], and gives each answer's kind and content
    /// until the kernel reports the end.
    pub(crate) fn ask(
        &mut self,
        message: &[u8],
        mut each: impl FnMut(u16, &[u8]),
    ) -> io::Result<()> {
        let kernel = NetlinkAddr::new(0, 0);
        sendto(self.socket.as_raw_fd(), message, &kernel, MsgFlags::empty())?;
        loop {
            let len = recv(self.socket.as_raw_fd(), &mut self.answer, MsgFlags::empty())?;
            for (kind, content) in pieces(&self.answer[..len], MESSAGE, read_message) {
                match kind {
                    DONE | ERROR => {
                        return match word(content, 0).unwrap_or_default().cast_signed() {
                            0 => Ok(()),
                            code => Err(io::Error::from_raw_os_error(-code)),
                        };
                    }
                    _ => each(kind, content),
                }
            }
        }
    }
}

/// A message: `struct nlmsghdr` and its content.
pub(crate) fn message(kind: u16, flags: u16, content: &[u8]) -> Vec<u8> {
    let mut message = Vec::with_capacity(MESSAGE + content.len());
    message.extend(((MESSAGE + content.len()) as u32).to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend((REQUEST | flags).to_ne_bytes());
    message.extend([0; 8]);
    message.extend(content);
    message
}

/// Appends an attribute.
pub(crate) fn put(to: &mut Vec<u8>, kind: u16, content: &[u8]) {
    to.extend(((ATTRIBUTE + content.len()) as u16).to_ne_bytes());
    to.extend(kind.to_ne_bytes());
    to.extend(content);
    to.resize(to.len().next_multiple_of(4), 0);
}

/// Content of the first attribute of a kind.
pub(crate) fn attribute(attributes: &[u8], wanted: u16) -> Option<&[u8]> {
    let mut all = pieces(attributes, ATTRIBUTE, read_attribute);
    all.find(|(kind, _)| *kind == wanted).map(|(_, content)| content)
}

/// Kind and length of a message.
fn read_message(header: &[u8]) -> Option<(u16, usize)> {
    Some((half(header, 4)?, word(header, 0)? as usize))
}
/// Kind and length of an attribute.
fn read_attribute(header: &[u8]) -> Option<(u16, usize)> {
    Some((half(header, 2)?, half(header, 0)?.into()))
}

/// Consecutive items: each has a header with its kind and length, and begins at a multiple of four.
fn pieces(
    mut rest: &[u8],
    header: usize,
    read: fn(&[u8]) -> Option<(u16, usize)>,
) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let (kind, len) = read(rest)?;
        let content = rest.get(header..len)?;
        rest = rest.get(len.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, content))
    })
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}
/// The number of 32 bits at an offset.
pub(crate) fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_attribute_that_is_put_is_found() {
        let mut attributes = Vec::new();
        put(&mut attributes, 1, b"tbf\0");
        put(&mut attributes, 7, &[9]);
        put(&mut attributes, 3, b"later");
        assert_eq!(attribute(&attributes, 7), Some(&[9][..]));
        assert_eq!(attribute(&attributes, 3), Some(&b"later"[..]));
        assert_eq!(attribute(&attributes, 2), None);
    }

    proptest! {
        /// Reading ends, whatever the kernel says.
        #[test]
        fn no_answer_is_read_past_its_end(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            prop_assert!(pieces(&bytes, MESSAGE, read_message).count() <= bytes.len());
            prop_assert!(pieces(&bytes, ATTRIBUTE, read_attribute).count() <= bytes.len());
        }
    }
}
