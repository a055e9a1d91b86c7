use smallvec::SmallVec;

use super::{Found, Hit, Part, Query, SearchConfig};
use crate::index::{Links, U32s};

/// Hits that lend to what they are linked to: the best few.
const SEEDS: usize = 5;
/// What a name in common counts for, against 1 for the same text.
const SHARED_ENTITY: f32 = 0.4;
/// What a community in common counts for.
const SHARED_COMMUNITY: f32 = 0.3;
/// Records that a name may lead to and still say something: longer lists are cut at this length when they are built.
const TELLING: usize = 64;

/// Adds to each hit what the links to the best other hits are worth; at most `config.links_weight`.
///
/// Links bring no record in and none over a bar: `found` holds only what matched directly, and words and similarity alone admit.
#[inline(never)]
pub(super) fn lend(parts: &[Part<'_>], found: &mut Found, query: &Query, config: &SearchConfig) {
    let best = found.hits.first().map_or(0.0, |hit| hit.score);
    if config.links_weight <= 0.0 || best <= 0.0 {
        return;
    }
    let seeds: Vec<(u8, u32, f32)> =
        found.hits.iter().take(SEEDS).map(|hit| (hit.part, hit.record, hit.score / best)).collect();
    let mut changed = false;
    for (number, part) in parts.iter().enumerate() {
        let links = part.segment.links();
        if links.is_empty() {
            continue;
        }
        let of_part = seeds.iter().filter(|(part, ..)| usize::from(*part) == number);
        let seeds: Vec<(Linked, f32)> =
            of_part.map(|(_, record, weight)| (Linked::of(links, *record), *weight)).collect();
        let named: Vec<u32> = query.names().flat_map(|key| links.entities_of_key(key)).collect();
        for hit in found.hits.iter_mut().filter(|hit| usize::from(hit.part) == number && matched(hit)) {
            let own = Linked::of(links, hit.record);
            let telling = |entity: u32| links.records_of(entity).len() < TELLING;
            let mut worth = 0.0;
            if named.iter().any(|name| telling(*name) && links.records_of(*name).iter().any(|top| top == hit.record)) {
                worth += SHARED_ENTITY;
            }
            for (seed, weight) in seeds.iter().filter(|(seed, _)| seed.record != hit.record) {
                let mut strength = seed.nearness_of(hit.record).max(own.nearness_of(seed.record));
                if own
                    .entities
                    .iter()
                    .any(|entity| telling(entity) && seed.entities.iter().any(|other| other == entity))
                {
                    strength += SHARED_ENTITY;
                }
                if own.community.is_some() && own.community == seed.community {
                    strength += SHARED_COMMUNITY;
                }
                worth += weight * strength;
            }
            if worth > 0.0 {
                hit.links = worth.min(1.0);
                hit.links_share = config.links_weight * hit.links;
                hit.score += hit.links_share;
                changed = true;
            }
        }
    }
    if changed {
        super::search::sort(&mut found.hits);
    }
}

/// What a record is linked to.
struct Linked<'a> {
    record: u32,
    neighbours: SmallVec<[(u32, u8); 16]>,
    entities: U32s<'a>,
    community: Option<u32>,
}

impl<'a> Linked<'a> {
    fn of(links: Links<'a>, record: u32) -> Linked<'a> {
        let (neighbours, entities) = (links.neighbours_of(record).collect(), links.entities_of(record));
        Linked { record, neighbours, entities, community: links.community_of(record) }
    }

    /// How near another record is among the neighbours, 0 to 1; 0 where it is none.
    fn nearness_of(&self, record: u32) -> f32 {
        self.neighbours.iter().find(|(near, _)| *near == record).map_or(0.0, |(_, near)| f32::from(*near) / 255.0)
    }
}

/// Whether the record was found by itself.
fn matched(hit: &Hit) -> bool {
    hit.lexical > 0.0 || hit.semantic_rank.is_some()
}

#[cfg(test)]
mod tests {
    use crate::memory::{Record, Scope};
    use crate::retrieve::{Found, Query, Scratch, SearchConfig, Store, View};
    use crate::snapshot::{IndexConfig, SnapshotBuilder};

    fn search(links_weight: f32) -> (Store, Found) {
        let mut builder = SnapshotBuilder::new(IndexConfig::default(), None);
        let texts = [
            "The kiln broke during glaze firing, and the pottery class was sad.",
            "Pottery class needs a new kiln element before the next glaze firing.",
            "The celadon glaze wants a hotter kiln, says the pottery class.",
            // Holds a word of the prompt, and is linked to nothing.
            "My bicycle is red.",
            // Linked to the best hits, and holds no word of the prompt.
            "Celadon pottery class shelves.",
        ];
        texts.iter().zip(0..).for_each(|(text, at)| builder.add(Record::new(format!("r{at}"), *text)).unwrap());
        let store = Store::new(builder.finish_segment().unwrap(), None).unwrap();
        let query = Query::new("Which kiln broke during firing, and whose bicycle?", &[], &Scope::global(), None);
        let config = SearchConfig { links_weight, ..SearchConfig::default() };
        let found = store.search(&query, None, &store.masks(&View::default()), &config, &mut Scratch::default());
        (store, found)
    }

    #[test]
    fn links_lend_a_bounded_share_to_what_matched_by_itself() {
        let (store, with) = search(0.1);
        let (_, without) = search(0.0);
        assert!(store.base().links().neighbours_of(4).count() > 0);
        assert!(without.hits.iter().all(|hit| hit.links == 0.0 && hit.links_share == 0.0));
        let mut records: [Vec<u32>; 2] =
            [&with, &without].map(|found| found.hits.iter().map(|hit| hit.record).collect());
        records.iter_mut().for_each(|records| records.sort_unstable());
        assert_eq!(records[0], records[1], "links bring nothing in");
        assert!(!records[0].contains(&4));
        for hit in &with.hits {
            let plain = without.hits.iter().find(|plain| plain.record == hit.record).unwrap();
            assert!((0.0..=0.1).contains(&hit.links_share));
            assert!((hit.score - plain.score - hit.links_share).abs() < 1e-6);
            assert_eq!(hit.links > 0.0, hit.record != 3, "{hit:?}");
            assert_eq!((hit.coverage, hit.matched_idf), (plain.coverage, plain.matched_idf), "links admit nothing");
        }
    }
}
