//! What providers answered, as evidence and a report.

use super::call::fault_of;
use super::merge::Merge;
use super::{Call, CallKind, Outcome, ProviderReport, ProviderStatus};
use crate::memory::Timestamp;
use crate::rank::{Evidence, Flag};
use crate::retrieve::Rejection;

/// Reads one provider's answer into `evidence`; `None` if the call was not a provider's. `lapses` becomes the earliest moment at which one of its results expires.
pub(super) fn answer(
    call: &Call,
    outcome: &Outcome,
    merge: &Merge<'_>,
    evidence: &mut Vec<Evidence>,
    lapses: &mut Option<Timestamp>,
) -> Option<ProviderReport> {
    let CallKind::Provider { provider_id, limit, .. } = &call.kind else { return None };
    let mut report = ProviderReport { id: provider_id.clone(), ..ProviderReport::default() };
    let Outcome::Results(results, unreadable) = outcome else {
        report.status = match outcome {
            Outcome::TimedOut => ProviderStatus::Timeout,
            Outcome::Aborted => ProviderStatus::Aborted,
            _ => ProviderStatus::Error,
        };
        report.message = Some(fault_of(outcome, call.timeout_ms));
        return Some(report);
    };
    let most = (*limit).min(merge.config.provider_results);
    report.rejected = unreadable + results.len().saturating_sub(most);
    let budget = merge.config.budgets.per_provider_tokens;
    for (place, result) in results.iter().take(most).enumerate() {
        let expires = result.expires;
        match result.clone().normalize(&report.id, merge.view, budget) {
            Ok((result, importance)) => {
                report.results += 1;
                report.truncated += usize::from(result.flags.contains(&Flag::Truncated));
                evidence.push(merge.of_provider(result, importance, place));
                *lapses = [*lapses, expires].into_iter().flatten().min();
            }
            Err(Rejection::Malformed | Rejection::OutOfScope | Rejection::NotInForce) => report.rejected += 1,
        }
    }
    Some(report)
}
