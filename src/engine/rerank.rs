//! The listwise reranker: which candidates it sees, and what its answer does.

use super::{Candidate, Config};
use crate::rank::Evidence;
use crate::text::truncate;

/// Places in `evidence` that the reranker is shown, in the order of the merge. Some are kept for the best lexical results of the rest.
pub(super) fn shown(evidence: &[Evidence], config: &Config) -> Vec<usize> {
    let most = config.rerank_candidates.min(evidence.len());
    let by_merge = most.saturating_sub(config.rerank_lexical);
    let mut rest: Vec<(usize, f64)> = evidence.iter().map(lexical).enumerate().skip(by_merge).collect();
    // A stable sort: where there is nothing lexical, the order of the merge decides.
    rest.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut places: Vec<usize> = (0..by_merge).chain(rest.into_iter().map(|(place, _)| place)).take(most).collect();
    places.sort_unstable();
    places
}

/// The lexical component's own measure.
fn lexical(evidence: &Evidence) -> f64 {
    evidence.components.iter().find(|component| component.name == "lexical").map_or(0.0, |component| component.value)
}

/// What the reranker is shown of the results at `places`.
pub(super) fn candidates(evidence: &[Evidence], places: &[usize], config: &Config) -> Vec<Candidate> {
    let chosen: Vec<&Evidence> = places.iter().filter_map(|place| evidence.get(*place)).collect();
    chosen
        .iter()
        .map(|entry| Candidate {
            id: name(entry, &chosen),
            provider_id: entry.provider_id.clone(),
            title: entry.title.clone(),
            text: truncate(&entry.text, config.budgets.per_provider_tokens).to_string(),
        })
        .collect()
}

fn name(entry: &Evidence, among: &[&Evidence]) -> String {
    let shared = among.iter().filter(|other| other.id == entry.id).count() > 1;
    if shared { format!("{}/{}", entry.provider_id, entry.id) } else { entry.id.clone() }
}

/// Puts `evidence` in the order of `ids`: unknown and repeated ids are passed over, results that are not named keep their order
/// behind. Without a single known id nothing happens, and the fault is returned.
pub(super) fn reorder(evidence: Vec<Evidence>, shown: &[Candidate], ids: &[String]) -> (Vec<Evidence>, Option<String>) {
    let mut left: Vec<Option<Evidence>> = evidence.into_iter().map(Some).collect();
    let mut ordered = Vec::with_capacity(left.len());
    for id in ids {
        let Some(candidate) = shown.iter().find(|candidate| candidate.id == *id) else { continue };
        let is_meant = |entry: &Option<Evidence>| {
            entry.as_ref().is_some_and(|entry| {
                entry.provider_id == candidate.provider_id
                    && (entry.id == *id || *id == format!("{}/{}", entry.provider_id, entry.id))
            })
        };
        if let Some(mut entry) = left.iter_mut().find(|entry| is_meant(entry)).and_then(Option::take) {
            entry.reasons.push(format!("place {} of the reranker", ordered.len() + 1));
            ordered.push(entry);
        }
    }
    let fault = ordered.is_empty().then(|| "named none of the candidates".to_string());
    ordered.extend(left.into_iter().flatten());
    (ordered, fault)
}
