use super::part::Item;

/// A chosen element: which item, with which label, and the most bytes that its text may take.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub item: usize,
    pub lean: bool,
    pub text: usize,
}

/// What the elements of a part may take, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub total: usize,
    /// For any one provider, always.
    pub provider: usize,
    /// For any one provider or document, while others wait.
    pub share: usize,
    /// What a text may be shortened to before a lower-ranked element is dropped instead.
    pub least: usize,
}

/// A text shorter than this, in bytes, says nothing unless it is whole.
pub(super) const SHORTEST: usize = 48;

/// Chooses what is written, in three rounds, each by rank:
///
/// 1. every element that fits with a shortened text, no source beyond its share;
/// 2. from the room that nobody claimed, those held back by the share;
/// 3. what is still left lengthens labels, then texts, evenly until they are whole.
///
/// An element whose least form does not fit is passed over for the next one, so that one with an oversized
/// label costs nobody else a place.
#[inline(never)]
pub(super) fn fill(items: &[Item], room: Room) -> (Vec<Slot>, Ledger) {
    let mut ledger = Ledger::new(items, room);
    let mut slots = Vec::<Slot>::new();
    let mut waiting: Vec<usize> = (0..items.len()).collect();
    for shared in [true, false] {
        ledger.shared = shared;
        waiting.retain(|&at| match items.get(at).and_then(|item| least_form(item, at, room, &mut ledger)) {
            Some(slot) => {
                slots.push(slot);
                false
            }
            None => true,
        });
    }
    slots.sort_unstable_by_key(|slot| slot.item);
    ledger.shared = !waiting.is_empty();
    lengthen(items, &mut slots, room, &mut ledger);
    (slots, ledger)
}

/// The shortest acceptable form of an item, paid for; the full label if it is not out of proportion.
#[inline(never)]
fn least_form(item: &Item, at: usize, room: Room, ledger: &mut Ledger) -> Option<Slot> {
    let text = item.len.min(room.least);
    for lean in [false, true] {
        let label = item.label(lean).overhead();
        let out_of_proportion = !lean && label > room.total / 4;
        if !out_of_proportion && ledger.take(item, label + text) {
            return Some(Slot { item: at, lean, text });
        }
    }
    None
}

#[inline(never)]
fn lengthen(items: &[Item], slots: &mut [Slot], room: Room, ledger: &mut Ledger) {
    for slot in slots.iter_mut().filter(|slot| slot.lean) {
        if let Some(item) = items.get(slot.item) {
            let more = item.full.overhead().saturating_sub(item.lean.overhead());
            slot.lean = !ledger.take(item, more);
        }
    }
    let longest = slots.iter().filter_map(|slot| items.get(slot.item)).map(|item| item.len).max();
    let mut level = room.least.max(SHORTEST);
    while ledger.total < room.total && level < longest.unwrap_or(0) {
        level = level.saturating_add(level / 4);
        for slot in slots.iter_mut() {
            if let Some(item) = items.get(slot.item) {
                let more = item.len.min(level).saturating_sub(slot.text);
                if ledger.take(item, more) {
                    slot.text += more;
                }
            }
        }
    }
    for slot in slots.iter_mut() {
        if let Some(item) = items.get(slot.item) {
            let more = item.len.saturating_sub(slot.text).min(ledger.left(item));
            if slot.text + more >= item.len.min(SHORTEST) && ledger.take(item, more) {
                slot.text += more;
            }
        }
    }
}

/// Who has taken how much.
#[derive(Debug)]
pub(super) struct Ledger {
    room: Room,
    total: usize,
    /// By provider, and by document.
    taken: [Vec<usize>; 2],
    /// Whether the shares count.
    shared: bool,
}

impl Ledger {
    fn new(items: &[Item], room: Room) -> Ledger {
        let sources = |of: fn(&Item) -> usize| items.iter().map(|item| of(item) + 1).max();
        Ledger {
            room,
            total: 0,
            taken: [
                vec![0; sources(|item| item.provider).unwrap_or(0)],
                vec![0; sources(|item| item.document).unwrap_or(0)],
            ],
            shared: true,
        }
    }

    /// The most that this item could still take.
    pub(super) fn left(&self, item: &Item) -> usize {
        let mut left = self.room.total.saturating_sub(self.total);
        for (at, taken) in [item.provider, item.document].into_iter().zip(&self.taken) {
            let used = taken.get(at).copied().unwrap_or(0);
            // Where there is one source only, there is nobody to share with; and the share keeps nobody's
            // first result out.
            if self.shared && taken.len() > 1 && used > 0 {
                left = left.min(self.room.share.saturating_sub(used));
            }
        }
        let used = self.taken[0].get(item.provider).copied().unwrap_or(0);
        left.min(self.room.provider.saturating_sub(used))
    }

    /// Takes `bytes` for this item if they are left to it.
    pub(super) fn take(&mut self, item: &Item, bytes: usize) -> bool {
        let fits = bytes <= self.left(item);
        if fits {
            self.change(item, |taken| taken.saturating_add(bytes));
        }
        fits
    }

    /// Gives back what was taken and not used.
    pub(super) fn give_back(&mut self, item: &Item, bytes: usize) {
        self.change(item, |taken| taken.saturating_sub(bytes));
    }

    fn change(&mut self, item: &Item, change: impl Fn(usize) -> usize) {
        self.total = change(self.total);
        for (at, taken) in [item.provider, item.document].into_iter().zip(&mut self.taken) {
            if let Some(taken) = taken.get_mut(at) {
                *taken = change(*taken);
            }
        }
    }
}
