//! The container: magic, version, section table with checksums, sections at multiples of 8 bytes.

use std::hash::Hasher;
use std::ops::Range;

use twox_hash::XxHash64;

use super::codec::corrupt;
use crate::error::{Error, ErrorCode};

/// The version that this build writes, and the newest that it reads.
pub const FORMAT_VERSION: u16 = 1;

const MAGIC: [u8; 8] = *b"FOREWORD";
/// Magic, version, section count, a reserved word, checksum of the table.
const HEADER: usize = 24;
/// Tag, reserved word, offset, length, checksum.
const ENTRY: usize = 32;
const ALIGNMENT: usize = 8;

/// A section's name: four capital letters.
pub(super) type Tag = [u8; 4];

/// Puts sections together into a file.
#[derive(Default)]
pub(super) struct Writer {
    /// With their checksums.
    sections: Vec<(Tag, Vec<u8>, u64)>,
}

impl Writer {
    pub(super) fn section(&mut self, tag: Tag, bytes: Vec<u8>) {
        let sum = checksum(&bytes);
        self.sections.push((tag, bytes, sum));
    }

    /// The sections of another, after those that are there.
    pub(super) fn append(&mut self, mut other: Writer) {
        self.sections.append(&mut other.sections);
    }

    pub(super) fn finish(self) -> Vec<u8> {
        let body = HEADER + ENTRY * self.sections.len();
        let total =
            self.sections.iter().fold(body, |total, (_, bytes, _)| total + bytes.len().next_multiple_of(ALIGNMENT));
        let mut table = Vec::with_capacity(ENTRY * self.sections.len());
        let mut offset = body;
        for (tag, bytes, sum) in &self.sections {
            table.extend_from_slice(tag);
            table.extend_from_slice(&[0; 4]);
            table.extend_from_slice(&(offset as u64).to_le_bytes());
            table.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
            table.extend_from_slice(&sum.to_le_bytes());
            offset += bytes.len().next_multiple_of(ALIGNMENT);
        }
        let mut file = Vec::with_capacity(total);
        file.extend_from_slice(&MAGIC);
        file.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
        file.extend_from_slice(&(self.sections.len() as u16).to_le_bytes());
        file.extend_from_slice(&[0; 4]);
        file.extend_from_slice(&checksum(&table).to_le_bytes());
        file.extend_from_slice(&table);
        for (_, bytes, _) in self.sections {
            file.extend_from_slice(&bytes);
            file.resize(file.len().next_multiple_of(ALIGNMENT), 0);
        }
        file
    }
}

/// Where each section lies in a file that has been checked.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    sections: Vec<(Tag, Range<usize>)>,
    hash: u64,
    version: u16,
}

impl Table {
    /// Reads and checks the header, the table, and every section's place and checksum.
    #[inline(never)]
    pub(super) fn read(file: &[u8]) -> Result<Table, Error> {
        let header = file.get(..HEADER).ok_or_else(|| corrupt("header", "the file is shorter than a header"))?;
        if !header.starts_with(&MAGIC) {
            return Err(corrupt("header", "this is not a foreword snapshot (the first eight bytes differ)"));
        }
        let version = u16::from_le_bytes(array(header, 8)?);
        if version == 0 || version > FORMAT_VERSION {
            return Err(Error::new(
                ErrorCode::SnapshotVersion,
                format!(
                    "the snapshot has format version {version}, this build reads 1 to {FORMAT_VERSION}: update foreword"
                ),
            ));
        }
        let count = usize::from(u16::from_le_bytes(array(header, 10)?));
        let body = HEADER + ENTRY * count;
        let table = file.get(HEADER..body).ok_or_else(|| corrupt("table", "the file ends inside the section table"))?;
        if array(header, 12)? != [0; 4] || checksum(table) != u64::from_le_bytes(array(header, 16)?) {
            return Err(corrupt("table", "the checksum does not match"));
        }
        let mut sections: Vec<(Tag, Range<usize>)> = Vec::with_capacity(count);
        let mut expected = body;
        for entry in table.chunks_exact(ENTRY) {
            let tag: Tag = array(entry, 0)?;
            let name = String::from_utf8_lossy(&tag);
            let [offset, length, sum] = [8, 16, 24].map(|at| array(entry, at).map(u64::from_le_bytes));
            let (offset, length) = (offset?, length?);
            let start = usize::try_from(offset).ok().filter(|start| *start == expected);
            let start = start.ok_or_else(|| corrupt(&name, "it does not begin where the one before ends"))?;
            let end = usize::try_from(length).ok().and_then(|length| start.checked_add(length));
            let bytes = end.and_then(|end| file.get(start..end));
            let (Some(end), Some(bytes)) = (end, bytes) else {
                return Err(corrupt(&name, "the file ends before it does"));
            };
            if checksum(bytes) != sum? {
                return Err(corrupt(&name, "the checksum does not match"));
            }
            if sections.iter().any(|(other, _)| *other == tag) {
                return Err(corrupt(&name, "it is there twice"));
            }
            expected = end.next_multiple_of(ALIGNMENT);
            if file.get(end..expected).is_none_or(|padding| padding.iter().any(|byte| *byte != 0)) {
                return Err(corrupt(&name, "the padding after it is damaged"));
            }
            sections.push((tag, start..end));
        }
        if expected != file.len() {
            return Err(corrupt(
                "table",
                format!("the file has {} bytes, the table accounts for {expected}", file.len()),
            ));
        }
        Ok(Table { sections, hash: checksum(table), version })
    }

    /// The place of a section; empty if the file has none of that name.
    pub(super) fn get(&self, tag: Tag) -> Range<usize> {
        self.sections.iter().find(|(name, _)| *name == tag).map_or(0..0, |(_, range)| range.clone())
    }

    /// The checksum of the table, and so of everything in it.
    pub(super) fn hash(&self) -> u64 {
        self.hash
    }

    /// The version of the format that the file is in.
    pub(super) fn version(&self) -> u16 {
        self.version
    }

    /// Names and lengths, in order of place.
    pub(super) fn lengths(&self) -> impl Iterator<Item = (String, usize)> + '_ {
        self.sections.iter().map(|(tag, range)| (String::from_utf8_lossy(tag).into_owned(), range.len()))
    }
}

#[inline(never)]
pub(super) fn checksum(bytes: &[u8]) -> u64 {
    let mut hasher = XxHash64::with_seed(0);
    hasher.write(bytes);
    hasher.finish()
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], Error> {
    at.checked_add(N)
        .and_then(|end| bytes.get(at..end))
        .and_then(|slice| slice.try_into().ok())
        .ok_or_else(|| corrupt("table", "it is cut short"))
}
