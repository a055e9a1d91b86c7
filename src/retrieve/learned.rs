use super::{Found, Hit, SearchConfig};

/// Merges the ranking of what was learned since the snapshot into the order: its hits by themselves, best first, so that a fact learned seconds ago
/// competes by its place among its kind and not only by its score against everything older.
///
/// It brings no record in and none over a bar: its hits are those that matched, and [`Hit::direct`] leaves it out.
/// Source of the reciprocal rank: Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet" (2009).
#[inline(never)]
pub(super) fn rank_learned(found: &mut Found, part: u8, config: &SearchConfig) {
    let best = found.hits.iter().map(Hit::direct).fold(0.0, f32::max);
    if config.learned_weight <= 0.0 || best <= 0.0 {
        return;
    }
    let mut place = 0u32;
    for hit in found.hits.iter_mut().filter(|hit| hit.part == part) {
        place += 1;
        hit.learned_rank = Some(place);
        let reciprocal = (config.rrf_k + 1.0) / (config.rrf_k + place as f32);
        // What matches badly is not fresh evidence: a place counts in proportion to how well its record matched.
        hit.learned_share = config.learned_weight * reciprocal * hit.direct() / best;
        hit.score += hit.learned_share;
    }
    if place > 0 {
        super::search::sort(&mut found.hits);
    }
}

#[cfg(test)]
mod tests {
    use crate::memory::{Record, Scope};
    use crate::retrieve::{Found, Hit, OVERLAY, Query, Scratch, SearchConfig, Store, View};
    use crate::snapshot::{IndexConfig, SnapshotBuilder};

    /// The snapshot's record matches slightly better than the one learned just now.
    fn found(learned_weight: f32) -> (Store, Found) {
        let mut builder = SnapshotBuilder::new(IndexConfig::default(), None);
        for at in 0..40 {
            builder.add(Record::new(format!("filler{at}"), format!("Note number {at} about the harbour."))).unwrap();
        }
        builder.add(Record::new("old", "The ferry to Kiel leaves from pier four.")).unwrap();
        let mut store = Store::new(builder.finish_segment().unwrap(), None).unwrap();
        let new = "The ferry to Kiel leaves from pier nine since the storm of last night.";
        store.remember(vec![Record::new("new", new), Record::new("aside", "The storm took a pier.")]).unwrap();
        let query = Query::new("From which pier leaves the ferry to Kiel?", &[], &Scope::global(), None);
        let config = SearchConfig { learned_weight, links_weight: 0.0, ..SearchConfig::default() };
        let found = store.search(&query, None, &store.masks(&View::default()), &config, &mut Scratch::default());
        (store, found)
    }

    #[test]
    fn what_was_learned_competes_on_its_own_rank_and_admits_nothing() {
        let ids = |(store, found): &(Store, Found)| -> Vec<String> {
            found.hits.iter().map(|hit| store.segment(hit).id(hit.record).to_string()).collect()
        };
        let (with, without) = (found(SearchConfig::default().learned_weight), found(0.0));
        assert_eq!(ids(&without)[..2], ["old", "new"]);
        assert_eq!(ids(&with)[..2], ["new", "old"]);
        assert!(without.1.hits.iter().all(|hit| hit.learned_rank.is_none() && hit.learned_share == 0.0));
        let best = with.1.hits.iter().map(Hit::direct).fold(0.0, f32::max);
        for hit in &with.1.hits {
            let plain =
                without.1.hits.iter().find(|plain| (plain.part, plain.record) == (hit.part, hit.record)).unwrap();
            assert_eq!(hit.learned_rank.is_some(), hit.part == OVERLAY);
            assert!((hit.direct() - plain.score).abs() < 1e-6 && hit.coverage == plain.coverage);
            let share = hit.learned_rank.map_or(0.0, |place| 61.0 / (60.0 + place as f32) * hit.direct() / best);
            assert!((hit.learned_share - SearchConfig::default().learned_weight * share).abs() < 1e-6, "{hit:?}");
        }
        let ranks: Vec<u32> = with.1.hits.iter().filter_map(|hit| hit.learned_rank).collect();
        assert_eq!(ranks, [1, 2], "a ranking of its own, from one");
    }
}
