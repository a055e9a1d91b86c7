//! What providers answered, as evidence and a report.

use super::call::fault_of;
use super::merge::{Draft, Merge};
use super::{Call, CallKind, Outcome, ProviderReport, ProviderStatus};
use crate::rank::Flag;
use crate::retrieve::Rejection;

/// Reads one provider's answer into `drafts`; `None` if the call was not a provider's.
pub(super) fn answer<'m>(
    call: &Call,
    outcome: &Outcome,
    merge: &'m Merge<'m>,
    drafts: &mut Vec<Draft<'m>>,
) -> Option<ProviderReport> {
    let CallKind::Provider { provider_id, limit, .. } = &call.kind else { return None };
    let mut report = ProviderReport { id: provider_id.clone(), ..ProviderReport::default() };
    let Outcome::Results(results, unreadable) = outcome else {
        report.status = match outcome {
            Outcome::TimedOut | Outcome::Overdue => ProviderStatus::Timeout,
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
                drafts.push(merge.of_provider(result, importance, place, expires));
            }
            Err(Rejection::Malformed | Rejection::OutOfScope | Rejection::NotInForce) => report.rejected += 1,
        }
    }
    Some(report)
}
