/// A flat array of little-endian `u32`, read in place at any alignment.
#[derive(Clone, Copy, Debug, Default)]
pub struct U32s<'a>(&'a [[u8; 4]]);

impl<'a> U32s<'a> {
    /// The array in `bytes`; bytes after the last whole number are not part of it.
    pub fn new(bytes: &'a [u8]) -> Self {
        U32s(bytes.as_chunks().0)
    }

    /// How many numbers there are.
    pub fn len(self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The number at `at`.
    pub fn get(self, at: usize) -> Option<u32> {
        self.0.get(at).map(|bytes| u32::from_le_bytes(*bytes))
    }

    /// The numbers from `start` up to `end`; `None` if they are not all there.
    pub fn slice(self, start: usize, end: usize) -> Option<Self> {
        self.0.get(start..end).map(U32s)
    }

    /// The numbers in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = u32> + DoubleEndedIterator + 'a {
        self.0.iter().map(|bytes| u32::from_le_bytes(*bytes))
    }

    /// The `nth` of consecutive ranges, where this array holds the end of each.
    pub fn range(self, nth: usize) -> Option<std::ops::Range<usize>> {
        let start = if nth == 0 { 0 } else { self.get(nth - 1)? as usize };
        let end = self.get(nth)? as usize;
        (start <= end).then_some(start..end)
    }

    /// Index of the first number for which `before` is false; the array must be partitioned by it.
    pub fn partition_point(self, before: impl Fn(u32) -> bool) -> usize {
        self.0.partition_point(|bytes| before(u32::from_le_bytes(*bytes)))
    }
}
