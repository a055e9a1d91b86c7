//! A table of token vectors: an embedding model without inference.
//!
//! A text is lower-cased, split as BERT splits it (whitespace, punctuation, then the longest known
//! pieces), and its vector is the weighted sum of its pieces' vectors, scaled to length 1. The
//! vectors come from a file (`pkg/static/foreword-static-v1.bin`, made by `evals/static`), which is
//! kept as it was read: nothing but a lookup table is built at load.
//!
//! # The file, version 1
//!
//! Little-endian, sections in this order, nothing between or after them:
//!
//! | section | bytes |
//! | --- | --- |
//! | magic | `fwstatic` |
//! | version | `u32` = 1 |
//! | header | `u32` length of the file, `u16` dimensions (even), `u16` length of the identifier, `u32` whole pieces, `u32` continuation pieces, `u32` length of the vocabulary |
//! | identifier | UTF-8 |
//! | scales | 256 × `f32` |
//! | vocabulary | per piece `u8` length and UTF-8 (not checked: other bytes match nothing); whole pieces, then continuations (without `##`), each strictly ascending |
//! | weights | per piece `u8`, an index into the scales |
//! | vectors | per piece dimensions / 2 bytes: byte `i` holds dimension `i` in its low four bits and dimension `i + dimensions / 2` in its high four |
//! | checksum | `u32`, CRC-32 (IEEE) of everything before it |
//!
//! A stored level `n` of a piece with scale `s` means `s × (n − 7.5)`. The piece's weight in the
//! mean is part of its scale.
//!
//! # Untrusted input
//!
//! [`StaticTable::from_bytes`] takes any bytes and never panics; it allocates at most about six
//! bytes for each byte of the vocabulary beyond the bytes handed in. [`StaticTable::embed`] takes
//! any text, allocates nothing and takes time linear in its length. Results are the same on every
//! platform: `f32` sums in a fixed order, and `sqrt`.

use std::fmt;

/// The largest number of dimensions a file may have.
pub const MAX_DIMENSIONS: usize = 1024;

const MAGIC: &[u8; 8] = b"fwstatic";
const VERSION: u32 = 1;
const HEADER: usize = 32;
const SCALES: usize = 256;
/// Larger scales could overflow the sum of a long text.
const MAX_SCALE: f32 = 1e6;
const MAX_PIECE: usize = 64;
/// BERT's limit: a longer word is unknown.
const MAX_WORD_CHARS: usize = 100;
const MAX_WORD_BYTES: usize = 4 * MAX_WORD_CHARS;
const MAX_PROBES: usize = 64;
const EMPTY: u16 = u16::MAX;
/// Bytes summed by one call of the checksum's inner function.
const BLOCK: usize = 1 << 14;

/// Token vectors and their vocabulary, used in place.
pub struct StaticTable {
    bytes: Vec<u8>,
    id: String,
    dimensions: usize,
    scales: Vec<f32>,
    /// Where each piece begins in `bytes`, at its length byte.
    pieces: Vec<u32>,
    /// How many of `pieces` may begin a word.
    wholes: usize,
    longest: usize,
    weights: usize,
    vectors: usize,
    /// Open addressing: indexes into `pieces`, a power of two, at most half full.
    slots: Vec<u16>,
}

impl StaticTable {
    /// Reads a table and keeps its bytes.
    ///
    /// # Errors
    ///
    /// When the bytes are not a whole, undamaged table of version 1; the error names the section.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<StaticTable, StaticTableError> {
        let fail = |section, reason| Err(StaticTableError { section, reason });
        if bytes.get(..8) != Some(MAGIC.as_slice()) {
            return fail(Section::Magic, "not a static table");
        }
        let header = |at| u32_at(&bytes, at).ok_or(StaticTableError { section: Section::Header, reason: "cut short" });
        match u32_at(&bytes, 8) {
            Some(VERSION) => {}
            Some(_) => return fail(Section::Version, "unknown format version"),
            None => return fail(Section::Version, "cut short"),
        }
        if header(12)? as usize != bytes.len() {
            return fail(Section::Header, "the stated length is not the length of the file");
        }
        let (dimensions, id_length) = {
            let both = header(16)?;
            ((both & 0xffff) as usize, (both >> 16) as usize)
        };
        let (wholes, continuations) = (header(20)? as usize, header(24)? as usize);
        let vocabulary_length = header(28)? as usize;
        if dimensions == 0 || dimensions > MAX_DIMENSIONS || dimensions % 2 != 0 {
            return fail(Section::Header, "dimensions must be even, from 2 to 1024");
        }
        let Some(count) = wholes.checked_add(continuations).filter(|&n| n < EMPTY as usize) else {
            return fail(Section::Header, "too many pieces");
        };

        let mut end = HEADER;
        let mut section = |section, length: usize| {
            let start = end;
            end = start
                .checked_add(length)
                .filter(|&e| e <= bytes.len())
                .ok_or(StaticTableError { section, reason: "cut short" })?;
            Ok::<usize, StaticTableError>(start)
        };
        let id_at = section(Section::Identifier, id_length)?;
        let scales_at = section(Section::Scales, 4 * SCALES)?;
        let vocabulary = section(Section::Vocabulary, vocabulary_length)?;
        let weights = section(Section::Weights, count)?;
        let vectors = section(Section::Vectors, count * (dimensions / 2))?;
        let sum_at = section(Section::Checksum, 4)?;
        if end != bytes.len() {
            return fail(Section::Checksum, "bytes after the end");
        }
        if u32_at(&bytes, sum_at) != bytes.get(..sum_at).map(crc32) {
            return fail(Section::Checksum, "the bytes are damaged");
        }

        let id = match bytes.get(id_at..scales_at).map(std::str::from_utf8) {
            Some(Ok(id)) if !id.is_empty() => id.to_owned(),
            _ => return fail(Section::Identifier, "empty or not UTF-8"),
        };
        let mut scales = Vec::with_capacity(SCALES);
        for word in bytes.get(scales_at..vocabulary).unwrap_or_default().as_chunks::<4>().0 {
            let scale = f32::from_le_bytes(*word);
            if !(0.0..=MAX_SCALE).contains(&scale) {
                return fail(Section::Scales, "a scale is negative, too large or not a number");
            }
            scales.push(scale);
        }

        // Every piece takes at least two bytes, so a false count ends here before anything is reserved.
        if count > vocabulary_length / 2 {
            return fail(Section::Vocabulary, "fewer pieces than stated");
        }
        let mut table = StaticTable {
            id,
            dimensions,
            scales,
            pieces: Vec::with_capacity(count),
            wholes,
            longest: 0,
            weights,
            vectors,
            slots: vec![EMPTY; (2 * count).next_power_of_two().max(2)],
            bytes,
        };
        table.index_vocabulary(vocabulary, weights, count)?;
        Ok(table)
    }

    /// The model's identifier: vectors of two tables compare only where it is the same.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// How many numbers a vector has.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// How many pieces the vocabulary holds.
    pub fn pieces(&self) -> usize {
        self.pieces.len()
    }

    /// Writes the text's vector, of length 1, or zeros where no piece of the text is known.
    ///
    /// Where `out` is longer than [`dimensions`](Self::dimensions) its rest becomes zero; where it
    /// is shorter it receives the first dimensions, scaled to length 1 (they are sorted by how much
    /// they tell, so a prefix is a smaller model).
    pub fn embed(&self, text: &str, out: &mut [f32]) {
        out.fill(0.0);
        let mut word = Word::default();
        for c in text.chars() {
            if c.is_ascii() {
                if c.is_ascii_alphanumeric() {
                    word.push(c.to_ascii_lowercase());
                } else if c.is_ascii_whitespace() || c == '\u{b}' {
                    self.finish(&mut word, out);
                } else if !c.is_ascii_control() {
                    self.finish(&mut word, out);
                    word.push(c);
                    self.finish(&mut word, out);
                }
                continue;
            }
            match kind(c) {
                Kind::Dropped => {}
                Kind::Space => self.finish(&mut word, out),
                Kind::Alone => {
                    self.finish(&mut word, out);
                    word.push(c);
                    self.finish(&mut word, out);
                }
                Kind::Letter => {
                    for lower in c.to_lowercase() {
                        if kind(lower) == Kind::Letter {
                            word.push(without_accent(lower));
                        }
                    }
                }
            }
        }
        self.finish(&mut word, out);
        normalize(out);
    }

    /// Adds the pieces of a word to `out`, all or, if one part of it is unknown, none.
    fn finish(&self, word: &mut Word, out: &mut [f32]) {
        let mut found = [0u16; MAX_WORD_CHARS];
        let mut count = 0;
        let mut rest = word.bytes();
        while !rest.is_empty() {
            let Some((piece, length)) = self.longest_piece(rest, count > 0) else {
                count = 0;
                break;
            };
            let Some(place) = found.get_mut(count) else { break };
            *place = piece;
            count += 1;
            rest = rest.get(length..).unwrap_or_default();
        }
        for &piece in found.iter().take(count) {
            self.add(piece as usize, out);
        }
        word.clear();
    }

    fn longest_piece(&self, rest: &[u8], continuation: bool) -> Option<(u16, usize)> {
        let mut hashes = [0u32; MAX_PIECE];
        let mut hash = seed(continuation);
        let mut length = 0;
        for ((place, &byte), n) in hashes.iter_mut().zip(rest).zip(1..=self.longest) {
            hash = step(hash, byte);
            *place = hash;
            length = n;
        }
        for n in (1..=length).rev() {
            if rest.get(n).is_some_and(|&next| next & 0xc0 == 0x80) {
                continue; // inside a character
            }
            let (piece, &hash) = (rest.get(..n)?, hashes.get(n - 1)?);
            if let Some(index) = self.find(piece, continuation, hash) {
                return Some((index, n));
            }
        }
        None
    }

    fn find(&self, piece: &[u8], continuation: bool, hash: u32) -> Option<u16> {
        let mask = self.slots.len() - 1;
        let mut slot = spread(hash) as usize & mask;
        loop {
            let index = *self.slots.get(slot)?;
            if index == EMPTY {
                return None;
            }
            if (index as usize >= self.wholes) == continuation && self.piece(index as usize) == Some(piece) {
                return Some(index);
            }
            slot = (slot + 1) & mask;
        }
    }

    fn piece(&self, index: usize) -> Option<&[u8]> {
        let at = *self.pieces.get(index)? as usize;
        let length = *self.bytes.get(at)? as usize;
        self.bytes.get(at + 1..at + 1 + length)
    }

    fn add(&self, index: usize, out: &mut [f32]) {
        let half = self.dimensions / 2;
        let at = self.vectors + index * half;
        let Some(row) = self.bytes.get(at..at + half) else { return };
        let Some(&weight) = self.bytes.get(self.weights + index) else { return };
        let Some(&scale) = self.scales.get(weight as usize) else { return };
        let (low, high) = out.split_at_mut(half.min(out.len()));
        for (o, &byte) in low.iter_mut().zip(row) {
            *o += scale * ((byte & 15) as f32 - 7.5);
        }
        for (o, &byte) in high.iter_mut().zip(row) {
            *o += scale * ((byte >> 4) as f32 - 7.5);
        }
    }

    /// Walks the vocabulary once: checks it, notes where pieces begin, fills the slots.
    fn index_vocabulary(&mut self, start: usize, end: usize, count: usize) -> Result<(), StaticTableError> {
        let fail = |reason| Err(StaticTableError { section: Section::Vocabulary, reason });
        let vocabulary = self.bytes.get(start..end).unwrap_or_default();
        let mut rest = vocabulary;
        let mut before: &[u8] = &[];
        for index in 0..count {
            let Some((piece, next)) = rest.split_first().and_then(|(&n, tail)| tail.split_at_checked(n as usize))
            else {
                return fail("cut short");
            };
            if piece.is_empty() || piece.len() > MAX_PIECE {
                return fail("a piece is empty or too long");
            }
            if index != 0 && index != self.wholes && piece <= before {
                return fail("pieces are not in ascending order");
            }
            before = piece;
            self.longest = self.longest.max(piece.len());
            self.pieces.push((start + vocabulary.len() - rest.len()) as u32);
            rest = next;

            if !place(&mut self.slots, piece, index as u16, index >= self.wholes) {
                return fail("pieces collide");
            }
        }
        if rest.is_empty() { Ok(()) } else { fail("more bytes than pieces") }
    }
}

/// Takes the first free slot for a piece; false where too many are taken. Not inlined for the reason given at `crc32_block`.
#[inline(never)]
fn place(slots: &mut [u16], piece: &[u8], index: u16, continuation: bool) -> bool {
    let mask = slots.len() - 1;
    let mut slot = spread(piece.iter().fold(seed(continuation), |h, &b| step(h, b))) as usize & mask;
    for _ in 0..=MAX_PROBES {
        match slots.get_mut(slot) {
            Some(free) if *free == EMPTY => {
                *free = index;
                return true;
            }
            _ => slot = (slot + 1) & mask,
        }
    }
    false
}

impl fmt::Debug for StaticTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StaticTable")
            .field("id", &self.id)
            .field("dimensions", &self.dimensions)
            .field("pieces", &self.pieces.len())
            .finish_non_exhaustive()
    }
}

/// Why bytes are not a static table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StaticTableError {
    section: Section,
    reason: &'static str,
}

impl StaticTableError {
    /// The section of the file in which reading stopped.
    pub fn section(&self) -> Section {
        self.section
    }
}

impl fmt::Display for StaticTableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "static table, {}: {}", self.section, self.reason)
    }
}

impl std::error::Error for StaticTableError {}

/// A section of the file, in file order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Section {
    Magic,
    Version,
    Header,
    Identifier,
    Scales,
    Vocabulary,
    Weights,
    Vectors,
    Checksum,
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Section::Magic => "magic",
            Section::Version => "version",
            Section::Header => "header",
            Section::Identifier => "identifier",
            Section::Scales => "scales",
            Section::Vocabulary => "vocabulary",
            Section::Weights => "weights",
            Section::Vectors => "vectors",
            Section::Checksum => "checksum",
        })
    }
}

/// The word being read, lower-cased; a longer one than BERT takes is remembered as too long.
struct Word {
    bytes: [u8; MAX_WORD_BYTES],
    length: usize,
    chars: usize,
}

impl Default for Word {
    fn default() -> Word {
        Word { bytes: [0; MAX_WORD_BYTES], length: 0, chars: 0 }
    }
}

impl Word {
    fn push(&mut self, c: char) {
        self.chars = self.chars.saturating_add(1);
        if let Some(room) = self.bytes.get_mut(self.length..self.length + c.len_utf8()) {
            c.encode_utf8(room);
            self.length += c.len_utf8();
        }
    }

    fn bytes(&self) -> &[u8] {
        if self.chars > MAX_WORD_CHARS { &[] } else { self.bytes.get(..self.length).unwrap_or_default() }
    }

    fn clear(&mut self) {
        self.length = 0;
        self.chars = 0;
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Letter,
    Space,
    /// A word of its own: punctuation, an ideograph.
    Alone,
    /// Nothing to BERT: controls, combining marks, invisible formatting.
    Dropped,
}

fn kind(c: char) -> Kind {
    match c {
        '\u{0}'..='\u{7f}' => Kind::Letter,
        '\u{300}'..='\u{36f}'
        | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{fe20}'..='\u{fe2f}' => Kind::Dropped,
        '\u{ad}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fffd}' => Kind::Dropped,
        '\u{a1}' | '\u{a7}' | '\u{ab}' | '\u{b6}' | '\u{b7}' | '\u{bb}' | '\u{bf}' => Kind::Alone,
        '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{2043}' | '\u{2045}'..='\u{2051}' | '\u{2053}'..='\u{205e}' => {
            Kind::Alone
        }
        '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301f}' | '\u{30fb}' => Kind::Alone,
        '\u{ff01}'..='\u{ff03}'
        | '\u{ff05}'..='\u{ff0a}'
        | '\u{ff0c}'..='\u{ff0f}'
        | '\u{ff1a}'
        | '\u{ff1b}'
        | '\u{ff1f}'
        | '\u{ff20}' => Kind::Alone,
        '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{2ceaf}'
        | '\u{2f800}'..='\u{2fa1f}' => Kind::Alone,
        c if c.is_whitespace() => Kind::Space,
        c if c.is_control() => Kind::Dropped,
        _ => Kind::Letter,
    }
}

/// The letter under a Latin letter's accents; `.` in the tables leaves it as it is.
fn without_accent(c: char) -> char {
    // U+00C0 to U+024F and U+1E00 to U+1EFF, by canonical decomposition of the lower-case letter.
    const LATIN: &[u8; 400] =
        b"aaaaaa.ceeeeiiii.nooooo..uuuuy..aaaaaa.ceeeeiiii.nooooo..uuuuy.yaaaaaaccccccccdd..eeeeeeeeeegggggggg\
        hh..iiiiiiiii...jjkk.llllll....nnnnnn...oooooo..rrrrrrsssssssstttt..uuuuuuuuuuuuwwyyyzzzzzz.........\
        ........................oo.............uu............................aaiioouuuuuuuuuu.aaaa....ggkkoo\
        oo..j...gg..nnaa....aaaaeeeeiiiioooorrrruuuusstt..hh......aaeeooooooooyy............................";
    const ADDITIONAL: &[u8; 256] =
        b"aabbbbbbccddddddddddeeeeeeeeeeffgghhhhhhhhhhiiiikkkkkkllllllllmmmmmmnnnnnnnnoooooooopppprrrrrrrrssss\
        ssssssttttttttuuuuuuuuuuvvvvwwwwwwwwwwxxxxyyzzzzzzhtwy......aaaaaaaaaaaaaaaaaaaaaaaaeeeeeeeeeeeeeeee\
        iiiioooooooooooooooooooooooouuuuuuuuuuuuuuyyyyyyyy......";
    let code = c as usize;
    let base = match code {
        0xc0..0x250 => LATIN.get(code - 0xc0),
        0x1e00..0x1f00 => ADDITIONAL.get(code - 0x1e00),
        _ => None,
    };
    match base {
        Some(&b) if b != b'.' => b as char,
        _ => c,
    }
}

fn normalize(out: &mut [f32]) {
    // Eight sums, added in one order, so that every platform and every vector width agrees.
    let mut lanes = [0f32; 8];
    for chunk in out.chunks(8) {
        for (lane, &x) in lanes.iter_mut().zip(chunk) {
            *lane += x * x;
        }
    }
    let norm = lanes.iter().sum::<f32>().sqrt();
    if norm > 0.0 && norm.is_finite() {
        let inverse = 1.0 / norm;
        out.iter_mut().for_each(|x| *x *= inverse);
    } else {
        out.fill(0.0);
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// FNV-1a, begun apart for continuations.
fn seed(continuation: bool) -> u32 {
    if continuation { 0x9747_b28c } else { 0x811c_9dc5 }
}

fn step(hash: u32, byte: u8) -> u32 {
    (hash ^ byte as u32).wrapping_mul(0x0100_0193)
}

fn spread(hash: u32) -> u32 {
    let h = (hash ^ (hash >> 15)).wrapping_mul(0x2c1b_3c6d);
    h ^ (h >> 13)
}

/// CRC-32 (IEEE), eight bytes at a time; the tables are made here, since shipping them costs more.
fn crc32(bytes: &[u8]) -> u32 {
    let mut tables = [[0u32; 256]; 8];
    let mut previous = [0u32; 256];
    for (i, entry) in previous.iter_mut().enumerate() {
        *entry = (0..8).fold(i as u32, |c, _| if c & 1 == 1 { (c >> 1) ^ 0xedb8_8320 } else { c >> 1 });
    }
    let first = previous;
    let at = |table: &[u32; 256], byte: u32| table.get((byte & 255) as usize).copied().unwrap_or(0);
    for table in &mut tables {
        *table = previous;
        for entry in &mut previous {
            *entry = (*entry >> 8) ^ at(&first, *entry);
        }
    }
    !bytes.chunks(BLOCK).fold(!0, |crc, block| crc32_block(&tables, crc, block))
}

/// A function of its own, since a wasm engine exchanges its quick first code for good code only between calls.
#[inline(never)]
fn crc32_block(tables: &[[u32; 256]; 8], mut crc: u32, block: &[u8]) -> u32 {
    let at = |table: &[u32; 256], byte: u32| table.get((byte & 255) as usize).copied().unwrap_or(0);
    let [t0, t1, t2, t3, t4, t5, t6, t7] = tables;
    let (chunks, tail) = block.as_chunks::<8>();
    for &chunk in chunks {
        let both = u64::from_le_bytes(chunk);
        let (x, y) = (crc ^ both as u32, (both >> 32) as u32);
        crc = at(t7, x) ^ at(t6, x >> 8) ^ at(t5, x >> 16) ^ at(t4, x >> 24);
        crc ^= at(t3, y) ^ at(t2, y >> 8) ^ at(t1, y >> 16) ^ at(t0, y >> 24);
    }
    for &byte in tail {
        crc = (crc >> 8) ^ at(t0, crc ^ byte as u32);
    }
    crc
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table of two dimensions; each piece has its weight index and its two levels.
    fn file(wholes: &[(&str, u8, u8)], continuations: &[(&str, u8, u8)]) -> Vec<u8> {
        let all = || wholes.iter().chain(continuations);
        let vocabulary: Vec<u8> = all().flat_map(|(p, ..)| std::iter::once(p.len() as u8).chain(p.bytes())).collect();
        let mut out = b"fwstatic".to_vec();
        let total = HEADER + 4 + 4 * SCALES + vocabulary.len() + 2 * all().count() + 4;
        for word in [
            VERSION,
            total as u32,
            2 | 4 << 16,
            wholes.len() as u32,
            continuations.len() as u32,
            vocabulary.len() as u32,
        ] {
            out.extend(word.to_le_bytes());
        }
        out.extend(b"tiny");
        (0..SCALES).for_each(|i| out.extend((i as f32).to_le_bytes()));
        out.extend(vocabulary);
        out.extend(all().map(|&(_, weight, _)| weight));
        out.extend(all().map(|&(.., levels)| levels));
        seal(out)
    }

    fn seal(mut body: Vec<u8>) -> Vec<u8> {
        body.extend(crc32(&body).to_le_bytes());
        body
    }

    fn tiny() -> Vec<u8> {
        file(
            &[("?", 1, 0x77), ("cafe", 2, 0x8f), ("un", 1, 0x0f), ("unable", 1, 0xf8), ("x", 0, 0xff)],
            &[("able", 1, 0xf0), ("s", 3, 0x08)],
        )
    }

    fn embed(table: &StaticTable, text: &str) -> Vec<f32> {
        let mut out = vec![9.0; table.dimensions()];
        table.embed(text, &mut out);
        out
    }

    fn unit(x: f32, y: f32) -> Vec<f32> {
        let n = (x * x + y * y).sqrt();
        vec![x / n, y / n]
    }

    fn close(a: &[f32], b: &[f32]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-5)
    }

    #[test]
    fn reads_what_it_needs_from_the_file() {
        let table = StaticTable::from_bytes(tiny()).unwrap();
        assert_eq!((table.id(), table.dimensions(), table.pieces()), ("tiny", 2, 7));
    }

    #[test]
    fn sums_weighted_pieces() {
        let table = StaticTable::from_bytes(tiny()).unwrap();
        let cases: &[(&str, Vec<f32>)] = &[
            ("", vec![0.0, 0.0]),
            ("nothing known", vec![0.0, 0.0]),
            ("x", vec![0.0, 0.0]), // its weight is zero
            ("cafe", unit(15.0, 1.0)),
            ("  CAFÉ\t", unit(15.0, 1.0)),
            ("cafe\u{301}", unit(15.0, 1.0)),
            ("cafe unknown", unit(15.0, 1.0)),
            ("cafe?", unit(14.5, 0.5)),
            ("unable", unit(0.5, 7.5)), // the longest piece
            ("cafeable", unit(7.5, 8.5)),
            ("unables", unit(2.0, -15.0)),
            ("cafeq", vec![0.0, 0.0]), // a word is known as a whole or not at all
            ("able", vec![0.0, 0.0]),  // a continuation begins no word
            ("un\u{200b}able", unit(0.5, 7.5)),
            ("un，able", unit(7.5, -7.5)),
        ];
        for (text, want) in cases {
            let got = embed(&table, text);
            assert!(close(&got, want), "{text:?}: {got:?} is not {want:?}");
        }
    }

    #[test]
    fn a_word_longer_than_berts_limit_is_unknown() {
        let table = StaticTable::from_bytes(tiny()).unwrap();
        let ends = |n: usize| format!("un{}", "s".repeat(n));
        assert_ne!(embed(&table, &ends(98)), [0.0, 0.0]);
        assert_eq!(embed(&table, &ends(99)), [0.0, 0.0]);
        assert_eq!(embed(&table, &"é".repeat(1000)), [0.0, 0.0]);
    }

    #[test]
    fn any_length_of_output_is_filled() {
        let table = StaticTable::from_bytes(tiny()).unwrap();
        table.embed("cafe", &mut []);
        let mut short = [7.0];
        table.embed("cafe", &mut short);
        assert_eq!(short, [1.0]);
        let mut long = [7.0; 4];
        table.embed("cafe", &mut long);
        assert!(close(&long[..2], &unit(15.0, 1.0)) && long[2..] == [0.0, 0.0]);
    }

    #[test]
    fn errors_name_the_section() {
        let resealed = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = tiny();
            bytes.truncate(bytes.len() - 4);
            change(&mut bytes);
            let total = bytes.len() as u32 + 4;
            bytes[12..16].copy_from_slice(&total.to_le_bytes());
            seal(bytes)
        };
        let scales = HEADER + 4;
        let vocabulary = scales + 4 * SCALES;
        let set = |at: usize, value: u8| resealed(&move |b: &mut Vec<u8>| b[at] = value);
        let cases = [
            (vec![], Section::Magic),
            (b"fwstatiX".to_vec(), Section::Magic),
            (b"fwstatic".to_vec(), Section::Version),
            (set(8, 2), Section::Version),
            (tiny()[..20].to_vec(), Section::Header),
            (tiny()[..99].to_vec(), Section::Header),
            (set(16, 3), Section::Header),
            (set(16, 0), Section::Header),
            (set(22, 1), Section::Header),                    // 65,541 pieces
            (set(18, 0), Section::Checksum),                  // bytes left over
            (set(HEADER, 0xff), Section::Identifier),         // not UTF-8
            (set(scales + 3, 0xff), Section::Scales),         // negative
            (set(scales + 7, 0x7f), Section::Scales),         // beyond the limit
            (set(29, 0xff), Section::Vocabulary),             // longer than the file
            (set(vocabulary, 0), Section::Vocabulary),        // an empty piece
            (set(vocabulary + 1, b'd'), Section::Vocabulary), // "d" before "cafe"
            (set(24, 9), Section::Vectors),                   // more pieces than there are bytes for
            (tiny().into_iter().map(|b| if b == b'x' { b'y' } else { b }).collect(), Section::Checksum),
        ];
        for (i, (bytes, want)) in cases.into_iter().enumerate() {
            match StaticTable::from_bytes(bytes) {
                Ok(_) => panic!("case {i} was accepted"),
                Err(e) => {
                    assert_eq!(e.section(), want, "case {i}: {e}");
                }
            }
        }
    }

    #[test]
    fn damaged_bytes_never_pass_and_never_panic() {
        let whole = tiny();
        for n in 0..whole.len() {
            assert!(StaticTable::from_bytes(whole[..n].to_vec()).is_err(), "cut to {n}");
        }
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut bytes = whole.clone();
                bytes[at] ^= 1 << bit;
                assert!(StaticTable::from_bytes(bytes).is_err(), "bit {bit} of byte {at}");
            }
        }
    }

    #[test]
    fn hostile_bytes_with_a_good_checksum_never_panic() {
        let mut state = 0x2545_f491_4f6c_dd1du64;
        let mut random = |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % below as u64) as usize
        };
        let mut accepted = 0;
        for _ in 0..20_000 {
            let mut bytes = tiny();
            bytes.truncate(bytes.len() - 4);
            for _ in 0..1 + random(3) {
                let at = if random(2) == 0 { random(bytes.len()) } else { 16 + random(24) };
                bytes[at] = random(256) as u8;
            }
            if let Ok(table) = StaticTable::from_bytes(seal(bytes)) {
                accepted += 1;
                let vector = embed(&table, "Unables café? cafe un able x \u{1F980} 日本");
                assert!(vector.iter().all(|x| x.is_finite()));
            }
        }
        assert!(accepted > 100, "the mutations reached past the checks only {accepted} times");
    }

    #[test]
    fn checksum_is_the_common_one() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b""), 0);
    }

    /// The shipped file against vectors computed by the script that made it. A crate packed for a
    /// registry does not carry the file, so its absence is no failure.
    #[test]
    fn shipped_file_agrees_with_the_script_that_made_it() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let Ok(bytes) = std::fs::read(root.join("pkg/static/foreword-static-v1.bin")) else { return };
        assert!(bytes.len() <= 2_000_000);
        let table = StaticTable::from_bytes(bytes).unwrap();
        assert_eq!(table.id(), "foreword-static-v1");
        let golden = std::fs::read_to_string(root.join("evals/static/golden.tsv")).unwrap();
        for line in golden.lines() {
            let (numbers, text) = line.split_once('\t').unwrap();
            let want: Vec<f32> = numbers.split(' ').map(|n| n.parse().unwrap()).collect();
            let got = embed(&table, &text.replace("\\n", "\n"));
            assert!(close(&got[..want.len()], &want), "{text:?}: {got:?} is not {want:?}");
        }
        assert!(golden.lines().count() >= 20);
    }
}
