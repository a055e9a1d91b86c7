use std::collections::{BTreeMap, BTreeSet};

use crate::rank::Evidence;

/// The ids by which results are shown and cited, one for each, all different.
///
/// A result's own id where no other has it; else `provider:id`; and where that is taken too, or there is no id, a
/// `~` with the result's place is added. They depend on the whole list, never on what fits.
#[inline(never)]
pub fn citation_ids(evidence: &[Evidence]) -> Vec<String> {
    let mut uses = BTreeMap::<&str, usize>::new();
    for result in evidence {
        *uses.entry(&result.id).or_default() += 1;
    }
    let mut taken = BTreeSet::<String>::new();
    let unique = |result: &&Evidence| uses.get(result.id.as_str()) == Some(&1);
    taken.extend(evidence.iter().filter(unique).map(|result| result.id.clone()));
    taken.insert(String::new());
    let mut ids = Vec::with_capacity(evidence.len());
    for (place, result) in evidence.iter().enumerate() {
        if unique(&result) && !result.id.is_empty() {
            ids.push(result.id.clone());
            continue;
        }
        let mut id = String::new();
        if !result.id.is_empty() {
            id = [&result.provider_id, ":", &result.id].concat();
        }
        let mut suffix = place + 1;
        let plain = id.len();
        while !taken.insert(id.clone()) {
            id.truncate(plain);
            id.push('~');
            id.push_str(&suffix.to_string());
            suffix += evidence.len();
        }
        ids.push(id);
    }
    ids
}

/// Of each result, the places of those that contradict it, whichever of the two says so; 32 of them at most.
#[inline(never)]
pub(super) fn opponents(evidence: &[Evidence]) -> Vec<BTreeSet<usize>> {
    let mut places = BTreeMap::<&str, Vec<usize>>::new();
    for (place, result) in evidence.iter().enumerate() {
        places.entry(&result.id).or_default().push(place);
    }
    let mut opponents = vec![BTreeSet::new(); evidence.len()];
    for (place, result) in evidence.iter().enumerate() {
        for id in &result.conflicts_with {
            for &other in places.get(id.as_str()).into_iter().flatten() {
                for (one, two) in [(place, other), (other, place)] {
                    if let Some(known) = opponents.get_mut(one).filter(|known| one != two && known.len() < 32) {
                        known.insert(two);
                    }
                }
            }
        }
    }
    opponents
}

/// The order to show results in, as places: by rank, but what contradicts a result comes right after it,
/// so that both sides are read together and neither is lost alone.
#[inline(never)]
pub(super) fn reading_order(opponents: &[BTreeSet<usize>]) -> Vec<usize> {
    let mut placed = vec![false; opponents.len()];
    let mut order = Vec::with_capacity(opponents.len());
    let mut place = |at: usize| {
        if let Some(done) = placed.get_mut(at).filter(|done| !**done) {
            *done = true;
            order.push(at);
        }
    };
    for (at, others) in opponents.iter().enumerate() {
        place(at);
        others.iter().for_each(|&other| place(other));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(provider: &str, id: &str, conflicts: &[&str]) -> Evidence {
        Evidence {
            provider_id: provider.into(),
            id: id.into(),
            conflicts_with: conflicts.iter().map(|id| id.to_string()).collect(),
            ..Evidence::default()
        }
    }

    #[test]
    fn ids_are_short_where_they_can_be_and_always_differ() {
        type Case = (&'static [(&'static str, &'static str)], &'static [&'static str]);
        let cases: &[Case] = &[
            (&[("a", "1"), ("b", "2")], &["1", "2"]),
            (&[("a", "1"), ("b", "1"), ("b", "2")], &["a:1", "b:1", "2"]),
            (&[("a", "1"), ("a", "1")], &["a:1", "a:1~2"]),
            (&[("a", "1"), ("b", "1"), ("evil", "a:1")], &["a:1~1", "b:1", "a:1"]),
            (&[("a", "")], &["~1"]),
            (&[("a", ""), ("b", "~1")], &["~3", "~1"]),
            (&[], &[]),
        ];
        for (given, expected) in cases {
            let evidence: Vec<_> = given.iter().map(|(provider, id)| result(provider, id, &[])).collect();
            assert_eq!(citation_ids(&evidence), *expected, "{given:?}");
        }
    }

    #[test]
    fn contradictions_stand_side_by_side() {
        let evidence = [
            result("a", "1", &[]),
            result("a", "2", &["5", "9"]),
            result("a", "3", &[]),
            result("a", "4", &["2"]),
            result("a", "5", &["2"]),
        ];
        let opponents = opponents(&evidence);
        assert!(opponents[1].iter().eq(&[3, 4]), "{opponents:?}");
        assert_eq!(reading_order(&opponents), [0, 1, 3, 4, 2]);
    }
}
