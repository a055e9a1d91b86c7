use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::{Known, push, push_part};
use crate::index::{LinksParts, who_key};
use crate::memory::Timestamp;

/// The most records that an entity leads to.
const TOP_RECORDS: usize = 64;
/// The most entities that a record leads to; the first of a longer list count.
const RECORD_ENTITIES: usize = 16;

/// Whom and what the records name.
#[derive(Default)]
pub(super) struct Entities {
    numbers: FxHashMap<(u32, String), u32>,
    all: Vec<Entity>,
    of_records: Vec<Vec<u32>>,
}

struct Entity {
    scope: u32,
    key: String,
    /// Best first.
    top: Vec<(Rank, u32)>,
}

/// Declared importance in 254ths, last change, length; more of each is better.
type Rank = Reverse<(u8, Option<Timestamp>, usize)>;

impl Entities {
    /// Adds the next record.
    #[inline(never)]
    pub(super) fn add(&mut self, known: &Known<'_>, at: usize) {
        let mut named = Vec::new();
        if let (Some(record), Some(facts)) = (known.records.get(at), known.linked(at)) {
            let names = record.entities.iter().chain([&record.subject, &record.source.speaker]);
            let importance = (facts.importance.unwrap_or(0.5) * 254.0) as u8;
            let rank = Reverse((importance, facts.changed, record.text().len()));
            for name in names {
                let key = who_key(name);
                if key.is_empty() || named.len() == RECORD_ENTITIES {
                    continue;
                }
                let next = self.all.len() as u32;
                let number = *self.numbers.entry((facts.scope, key)).or_insert_with_key(|(scope, key)| {
                    self.all.push(Entity { scope: *scope, key: key.clone(), top: Vec::new() });
                    next
                });
                if named.contains(&number) {
                    continue;
                }
                named.push(number);
                if let Some(Entity { top, .. }) = self.all.get_mut(number as usize) {
                    let entry = (rank, at as u32);
                    let place = top.partition_point(|other| *other <= entry);
                    if place < TOP_RECORDS {
                        top.insert(place, entry);
                        top.truncate(TOP_RECORDS);
                    }
                }
            }
        }
        self.of_records.push(named);
    }

    pub(super) fn write(self, parts: &mut LinksParts) {
        let mut order: Vec<u32> = (0..self.all.len() as u32).collect();
        order.sort_unstable_by_key(|number| self.all.get(*number as usize).map(|entity| (&entity.key, entity.scope)));
        let mut places = vec![0u32; order.len()];
        for (place, number) in (0u32..).zip(order) {
            if let (Some(Entity { key, top, .. }), Some(of)) =
                (self.all.get(number as usize), places.get_mut(number as usize))
            {
                *of = place;
                parts.entity_keys.extend_from_slice(key.as_bytes());
                push(&mut parts.entity_key_ends, parts.entity_keys.len() as u32);
                push_part(&mut parts.entity_records, &mut parts.entity_ends, top.iter().map(|(_, record)| *record));
            }
        }
        for named in self.of_records {
            let named = named.iter().filter_map(|number| places.get(*number as usize).copied());
            push_part(&mut parts.record_entities, &mut parts.record_ends, named);
        }
    }
}
