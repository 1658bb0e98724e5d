//! Frames, and values with a length before them.

use bytes::{Buf, Bytes, BytesMut};
use postcard::ser_flavors::Flavor;
use ratewire_overlay::membership::{self, LinkMessage};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::WireError;

/// Largest length of a frame's body: 64 MiB. A client's message has up to 144,000 bytes, but a
/// daemon that comes back is told the members of all groups. A daemon tells those that are its
/// clients: at most a million memberships, of up to 49 bytes if each is in a group of its own.
pub const LONGEST_FRAME: usize = 64 << 20;

/// Bytes of the length before a body.
const HEADER: usize = size_of::<u32>();

/// Appends a frame with this value to `out`.
///
/// # Errors
/// If the frame would be too long, or the value has a sequence of unknown length. `out` is then as
/// it was.
pub fn encode<T: Serialize + ?Sized>(value: &T, out: &mut BytesMut) -> Result<(), WireError> {
    encode_within(LONGEST_FRAME, value, out)
}

/// As [`encode`], with a body of at most `most` bytes.
pub(super) fn encode_within<T: Serialize + ?Sized>(
    most: usize,
    value: &T,
    out: &mut BytesMut,
) -> Result<(), WireError> {
    let start = out.len();
    out.extend_from_slice(&[0; HEADER]);
    let body = Body { end: start + HEADER + most, out: &mut *out };
    if let Err(error) = postcard::serialize_with_flavor(value, body) {
        out.truncate(start);
        return Err(match error {
            postcard::Error::SerializeBufferFull => WireError::TooLong(most),
            error => WireError::Unwritable(error),
        });
    }
    let length = (out.len() - start - HEADER) as u32;
    out[start..start + HEADER].copy_from_slice(&length.to_le_bytes());
    Ok(())
}

/// Takes the first frame from `input`, and reads its value. `None` if more bytes are needed;
/// `input` is then as it was. A length alone reserves no memory.
///
/// Elements of sequences in `T` must have at least one byte each: a few bytes could announce any
/// number of empty ones.
///
/// # Errors
/// If the frame is too long, or does not hold a value of this type and nothing else.
pub fn decode<T: DeserializeOwned>(input: &mut BytesMut) -> Result<Option<T>, WireError> {
    let Some(body) = take(LONGEST_FRAME, input)? else { return Ok(None) };
    read(&body).map(Some)
}

/// Takes the first frame from `input`; its body has at most `most` bytes.
pub(super) fn take(most: usize, input: &mut BytesMut) -> Result<Option<Bytes>, WireError> {
    let Some(header) = input.first_chunk::<HEADER>() else { return Ok(None) };
    let length = u32::from_le_bytes(*header) as usize;
    if length > most {
        return Err(WireError::TooLong(most));
    }
    if input.len() < HEADER + length {
        return Ok(None);
    }
    input.advance(HEADER);
    Ok(Some(input.split_to(length).freeze()))
}

/// Appends the frame of a message, or of a sign of life.
///
/// # Errors
/// If the message is longer than [`LONGEST_FRAME`], or has a sequence of unknown length. `out` is
/// then as it was.
pub fn encode_message<G: Serialize, P: Serialize>(
    message: Option<&LinkMessage<G, P>>,
    out: &mut BytesMut,
) -> Result<(), WireError> {
    let start = out.len();
    let written =
        membership::write(message, LONGEST_FRAME, &mut |piece| out.extend_from_slice(piece));
    written.map_err(|error| {
        out.truncate(start);
        error.into()
    })
}

/// Takes the first frame from `input`: a message, or a sign of life. `None` if more bytes are
/// needed; `input` is then as it was.
///
/// # Errors
/// If the bytes are no frame.
pub fn decode_message<G: DeserializeOwned, P: DeserializeOwned>(
    input: &mut BytesMut,
) -> Result<Option<Option<LinkMessage<G, P>>>, WireError> {
    let Some((message, length)) = membership::read(input, LONGEST_FRAME)? else { return Ok(None) };
    input.advance(length);
    Ok(Some(message))
}

/// Reads a value from all of a body.
pub(super) fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, WireError> {
    let (value, rest) = postcard::take_from_bytes(body).map_err(WireError::Malformed)?;
    if rest.is_empty() { Ok(value) } else { Err(WireError::Trailing(rest.len())) }
}

/// A body that is being written, up to `end` of `out`.
struct Body<'a> {
    end: usize,
    out: &'a mut BytesMut,
}

impl Flavor for Body<'_> {
    type Output = ();

    fn try_extend(&mut self, data: &[u8]) -> postcard::Result<()> {
        if data.len() > self.end - self.out.len() {
            return Err(postcard::Error::SerializeBufferFull);
        }
        self.out.extend_from_slice(data);
        Ok(())
    }

    fn try_push(&mut self, data: u8) -> postcard::Result<()> {
        self.try_extend(&[data])
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}
