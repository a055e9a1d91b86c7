//! Records on their way in, several in one string and one array of numbers: a field that crosses by itself costs as much as indexing it.

use crate::memory::{Record, Scope, Source, Timestamp};

/// Reads what `Batch` of the package's records.js has laid out: the same fields by the same numbers.
pub(super) struct Unpacker<'a> {
    text: &'a str,
    /// Whether every UTF-16 unit is a byte.
    ascii: bool,
    numbers: std::slice::Iter<'a, f64>,
}

impl<'a> Unpacker<'a> {
    pub(super) fn new(text: &'a str, numbers: &'a [f64]) -> Self {
        Unpacker { text, ascii: text.is_ascii(), numbers: numbers.iter() }
    }

    /// The next record; `None` after the last one, and for one that has to cross by itself to be read or refused.
    pub(super) fn record(&mut self) -> Option<Record> {
        let mut record = Record::default();
        for _ in 0..self.count()? {
            match self.count()? {
                0 => record.id = self.text()?,
                1 => record.statement = self.text()?,
                2 => record.title = self.text()?,
                3 => record.kind = self.text()?,
                4 => record.topic = Some(self.text()?),
                5 => record.subject = self.text()?,
                6 => record.predicate = self.text()?,
                7 => record.superseded_by = Some(self.text()?),
                8 => record.cues = self.list()?,
                9 => record.tags = self.list()?,
                10 => record.entities = self.list()?,
                11 => record.supersedes = self.list()?,
                12 => record.created = Some(self.time()?),
                13 => record.updated = Some(self.time()?),
                14 => record.valid_from = Some(self.time()?),
                15 => record.valid_until = Some(self.time()?),
                16 => record.expires = Some(self.time()?),
                17 => record.unresolved = self.number()? != 0.0,
                18 => record.confidence = Some(self.number()? as f32),
                19 => record.importance = Some(self.number()? as f32),
                20 => record.scope = self.scope()?,
                21 => record.source = self.source()?,
                _ => return None,
            }
        }
        Some(record)
    }

    fn source(&mut self) -> Option<Source> {
        let mut source = Source::default();
        for _ in 0..self.count()? {
            match self.count()? {
                0 => source.provider = self.text()?,
                1 => source.uri = self.text()?,
                2 => source.session = self.text()?,
                3 => source.speaker = self.text()?,
                4 => source.position = Some(self.number()? as u32),
                _ => return None,
            }
        }
        Some(source)
    }

    fn scope(&mut self) -> Option<Scope> {
        (0..self.count()?).map(|_| Some((self.text()?, self.text()?))).collect()
    }

    fn list(&mut self) -> Option<Vec<String>> {
        (0..self.count()?).map(|_| self.text()).collect()
    }

    fn time(&mut self) -> Option<Timestamp> {
        Timestamp::parse(&self.text()?)
    }

    fn text(&mut self) -> Option<String> {
        let mut units = self.count()?;
        let mut end = if self.ascii { std::mem::take(&mut units) } else { 0 };
        let mut chars = self.text.chars();
        while units > 0 {
            let char = chars.next()?;
            // Half a character at the end of a text and another half at the beginning of the next have become one.
            units = units.checked_sub(char.len_utf16())?;
            end += char.len_utf8();
        }
        let (text, rest) = self.text.split_at_checked(end)?;
        self.text = rest;
        Some(text.to_string())
    }

    fn count(&mut self) -> Option<usize> {
        Some(self.number()? as usize)
    }

    fn number(&mut self) -> Option<f64> {
        self.numbers.next().copied()
    }
}
