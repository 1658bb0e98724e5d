//! Numbers of variable length, as in QUIC (RFC 9000, 16): the first two bits of a number say
//! whether it has 1, 2, 4 or 8 bytes.

use super::WireError;

/// Largest number.
pub const MOST: u64 = (1 << 62) - 1;

/// Appends a number, at most [`MOST`].
pub fn put(out: &mut Vec<u8>, number: u64) {
    debug_assert!(number <= MOST, "{number} has more than 62 bits");
    match number {
        0..0x40 => out.push(number as u8),
        0x40..0x4000 => out.extend((number as u16 | 0x4000).to_be_bytes()),
        0x4000..0x4000_0000 => out.extend((number as u32 | 0x8000_0000).to_be_bytes()),
        _ => out.extend((number | 0xc000_0000_0000_0000).to_be_bytes()),
    }
}

/// Bytes that a number takes.
pub fn len(number: u64) -> usize {
    match number {
        0..0x40 => 1,
        0x40..0x4000 => 2,
        0x4000..0x4000_0000 => 4,
        _ => 8,
    }
}

/// Takes a number from the front.
///
/// # Errors
/// When the bytes end within the number.
pub fn take(bytes: &mut &[u8]) -> Result<u64, WireError> {
    let first = *bytes.first().ok_or(WireError::Short)?;
    let length = 1 << (first >> 6);
    let (number, rest) = bytes.split_at_checked(length).ok_or(WireError::Short)?;
    *bytes = rest;
    let top = u64::from(first & 0x3f);
    Ok(number[1..].iter().fold(top, |sum, byte| sum << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9000, A.1.
    #[test]
    fn numbers_have_the_bytes_of_the_rfc() {
        for (bytes, number) in [
            (&[0x25][..], 37),
            (&[0x7b, 0xbd], 15_293),
            (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
            (&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c], 151_288_809_941_952_652),
        ] {
            let mut out = Vec::new();
            put(&mut out, number);
            assert_eq!((&out[..], len(number)), (bytes, bytes.len()));
            let mut rest = bytes;
            assert_eq!((take(&mut rest), rest.len()), (Ok(number), 0));
        }
        assert_eq!(take(&mut &[0x40, 0x25][..]), Ok(37), "a longer form is allowed");
        assert_eq!(take(&mut &[0x40][..]), Err(WireError::Short));
        assert_eq!(take(&mut &[][..]), Err(WireError::Short));
    }
}
