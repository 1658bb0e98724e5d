//! Hashes of routing keys.

/// FNV-1a of 64 bits (Fowler, Noll and Vo; RFC 9923).
const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// The hash of a routing key: FNV-1a of 64 bits.
///
/// ```
/// assert_eq!(ratewire_framing::hash(b""), 0xcbf2_9ce4_8422_2325);
/// assert_eq!(ratewire_framing::hash(b"foobar"), 0x8594_4171_f739_67e8);
/// ```
pub fn hash(key: &[u8]) -> u64 {
    key.iter().fold(BASIS, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME))
}
