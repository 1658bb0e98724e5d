//! A ring of lists by time, and which of them are not empty.

/// Empty, or the end of a list.
pub(super) const NIL: u32 = u32::MAX;

const WORD: usize = u64::BITS as usize;

/// The head of each list, by a number that only grows; it can hold `WORDS` times 64 numbers at once.
#[derive(Debug)]
pub(super) struct Ring<const WORDS: usize> {
    heads: Box<[[u32; WORD]; WORDS]>,
    bits: [u64; WORDS],
    summary: u64,
}

impl<const WORDS: usize> Ring<WORDS> {
    pub(super) const SLOTS: u64 = (WORDS * WORD) as u64;

    pub(super) fn new() -> Ring<WORDS> {
        Ring { heads: Box::new([[NIL; WORD]; WORDS]), bits: [0; WORDS], summary: 0 }
    }

    /// The word of a number, and the bit in it.
    #[inline]
    fn slot(number: u64) -> (usize, usize) {
        let slot = (number % Self::SLOTS) as usize;
        (slot / WORD, slot % WORD)
    }

    #[inline]
    pub(super) fn head(&self, number: u64) -> u32 {
        let (word, bit) = Self::slot(number);
        self.heads[word][bit]
    }

    /// Puts another head in place of the one there is, which it returns.
    #[inline]
    pub(super) fn put(&mut self, number: u64, head: u32) -> u32 {
        let (word, bit) = Self::slot(number);
        self.bits[word] |= 1 << bit;
        self.summary |= 1 << word;
        core::mem::replace(&mut self.heads[word][bit], head)
    }

    /// Takes a list out.
    #[inline]
    pub(super) fn take(&mut self, number: u64) -> u32 {
        let (word, bit) = Self::slot(number);
        self.bits[word] &= !(1 << bit);
        self.summary &= !(u64::from(self.bits[word] == 0) << word);
        core::mem::replace(&mut self.heads[word][bit], NIL)
    }

    /// The first number after `after` that has a list.
    #[inline]
    pub(super) fn next_after(&self, after: u64) -> Option<u64> {
        if self.summary == 0 {
            return None;
        }
        let (start, bit) = Self::slot(after + 1);
        let here = self.bits[start] >> bit;
        if here != 0 {
            return Some(after + 1 + u64::from(here.trailing_zeros()));
        }
        let later = self.summary >> start >> 1 << start << 1;
        let word = if later != 0 { later } else { self.summary }.trailing_zeros() as usize;
        let slot = word * WORD + self.bits[word].trailing_zeros() as usize;
        let ahead = (slot as u64).wrapping_sub((start * WORD + bit) as u64) % Self::SLOTS;
        Some(after + 1 + ahead)
    }
}
