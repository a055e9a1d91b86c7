use super::{push, push_part};
use crate::index::{LinksParts, NO_LINK};

/// The fewest records that make a community.
const LEAST: usize = 3;
/// The most records of a community: what a reader would still call one theme.
const MOST: u32 = 128;

/// Communities by label propagation: in each round a record takes the label that weighs most among its neighbours.
///
/// Source: Raghavan, Albert and Kumara, "Near linear time algorithm to detect community structures in large-scale networks"
/// (2007); here in order of record and with ties to the lower label, so that the outcome is always the same, and with a bound on size.
#[derive(Default)]
pub(super) struct Communities {
    labels: Vec<u32>,
    sizes: Vec<u32>,
    /// Number of the community of a label, while they are gathered.
    numbers: Vec<u32>,
    /// Members of each, those too small left in until they are written.
    members: Vec<Vec<u32>>,
    /// Community of each record.
    of_records: Vec<u32>,
}

impl Communities {
    /// Lets a record choose its label again.
    #[inline(never)]
    pub(super) fn spread(&mut self, edges: &[(u32, f32)], record: usize, records: usize) {
        if self.labels.is_empty() {
            self.labels = (0..records as u32).collect();
            self.sizes = vec![1; records];
        }
        let Some(own) = self.labels.get(record).copied() else { return };
        let mut tally: Vec<(u32, f32)> = Vec::with_capacity(edges.len());
        for (other, weight) in edges {
            let label = self.labels.get(*other as usize).copied().unwrap_or(own);
            // Squared, so that many weak links do not chain what is only loosely alike.
            let weight = weight * weight;
            match tally.iter_mut().find(|(known, _)| *known == label) {
                Some((_, sum)) => *sum += weight,
                None => tally.push((label, weight)),
            }
        }
        let room = |label: u32| self.sizes.get(label as usize).copied().unwrap_or(1) < MOST;
        let best = tally
            .into_iter()
            .filter(|(label, _)| *label == own || room(*label))
            .max_by(|a, b| a.1.total_cmp(&b.1).then_with(|| (a.0 == own).cmp(&(b.0 == own))).then(b.0.cmp(&a.0)));
        if let Some((label, _)) = best.filter(|(label, _)| *label != own) {
            for (label, change) in [(own, -1), (label, 1)] {
                if let Some(size) = self.sizes.get_mut(label as usize) {
                    *size = size.saturating_add_signed(change);
                }
            }
            if let Some(own) = self.labels.get_mut(record) {
                *own = label;
            }
        }
    }

    /// Puts a record with the others of its label.
    #[inline(never)]
    pub(super) fn gather(&mut self, record: usize) {
        let label = self.labels.get(record).copied().unwrap_or(NO_LINK) as usize;
        self.numbers.resize(self.labels.len(), NO_LINK);
        let large = self.sizes.get(label).is_some_and(|size| *size as usize >= LEAST);
        let community = self.numbers.get_mut(label).filter(|_| large).map(|number| {
            if *number == NO_LINK {
                *number = self.members.len() as u32;
                self.members.push(Vec::new());
            }
            *number
        });
        if let Some(members) = community.and_then(|community| self.members.get_mut(community as usize)) {
            members.push(record as u32);
        }
        self.of_records.push(community.unwrap_or(NO_LINK));
    }

    /// The members of a community.
    pub(super) fn at(&mut self, community: usize) -> Option<&mut Vec<u32>> {
        self.members.get_mut(community)
    }

    pub(super) fn write(self, parts: &mut LinksParts) {
        self.of_records.into_iter().for_each(|community| push(&mut parts.communities, community));
        for members in self.members {
            push_part(&mut parts.members, &mut parts.member_ends, members);
        }
    }
}
