use crate::text::{Style, escape, escape_prefix, truncate};

use super::budget::{CountTokens, rate, shrunk, to_bytes};
use super::fill::{Room, SHORTEST, Slot, fill};
use super::label::Label;

/// One part of the block, ready to be written at any size: its frame and its elements in reading order.
pub(super) struct Part<'e> {
    /// Name of the delimiters, nonce included.
    pub frame: String,
    /// The line that says what this is.
    pub notice: &'static str,
    /// Name of an element: one letter.
    pub element: char,
    pub items: Vec<Item<'e>>,
    /// The share of the room that one source may take while others wait, 0 to 1.
    pub share: f64,
    /// Whether a text may be left out altogether before an element is dropped.
    pub names_alone: bool,
    pub mark: Option<char>,
}

/// An element: a label around a text.
pub(super) struct Item<'e> {
    pub full: Label,
    pub lean: Label,
    pub text: &'e str,
    /// The text was cut before it came here.
    pub cut: bool,
    /// Bytes of the text as it would be written whole; set by [`Part::measure`].
    pub len: usize,
    /// Which provider, counted from 0.
    pub provider: usize,
    /// Which document or conversation, counted from 0; what names none is alone in its own.
    pub document: usize,
}

impl Item<'_> {
    pub(super) fn label(&self, lean: bool) -> &Label {
        if lean { &self.lean } else { &self.full }
    }
}

/// A part as it was written.
#[derive(Default)]
pub(super) struct Written {
    pub text: String,
    pub tokens: usize,
    /// Places of the items that are in it, in reading order.
    pub included: Vec<usize>,
    /// How many of them have a shortened text.
    pub shortened: usize,
    /// Invisible controls that were made visible.
    pub hidden: usize,
    /// The elements of each provider, joined.
    providers: Vec<String>,
    /// Every item is there, whole, with its full label.
    complete: bool,
}

/// What a part may count.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub tokens: usize,
    pub provider: usize,
}

const ELLIPSIS: char = '…';

impl Part<'_> {
    /// Writes the largest form found that counts no more than the limits; nothing if there is none.
    ///
    /// With a counter of bytes the first try is exact. Any other is asked again and again: the answer moves the aim in
    /// proportion, then by halves, until the text that was counted is the text that is returned.
    pub(super) fn write(&mut self, limits: Limits, counter: &dyn CountTokens) -> Written {
        const TRIES: usize = 80;
        const TRIES_TO_GROW: usize = 5;
        let rate = rate(counter);
        let mut room = to_bytes(limits.tokens, rate);
        let mut provider_room = to_bytes(limits.provider, rate);
        let most = room.saturating_mul(4);
        self.measure(most);
        let mut best: Option<Written> = None;
        for attempt in 0..TRIES {
            let mut written = self.render(room, provider_room);
            if written.text.is_empty() {
                break;
            }
            written.tokens = counter.count(&written.text);
            let greatest = written.providers.iter().map(|text| (counter.count(text), text.len())).max();
            let (provider_tokens, provider_len) = greatest.unwrap_or_default();
            if written.tokens <= limits.tokens && provider_tokens <= limits.provider {
                let len = written.text.len();
                let tokens = written.tokens;
                let aim = |limit| grown(len, limit, tokens).min(most);
                let room_enough = aim(limits.tokens) <= room.saturating_add(room / 16);
                let done = written.complete || room_enough || attempt >= TRIES_TO_GROW;
                if best.as_ref().is_none_or(|best| best.text.len() < len) {
                    best = Some(written);
                }
                if done {
                    break;
                }
                (room, provider_room) = (aim(limits.tokens), aim(limits.provider));
                continue;
            }
            if best.is_some() {
                break;
            }
            if written.tokens > limits.tokens {
                room = shrunk(written.text.len(), limits.tokens, written.tokens, attempt).min(room);
            }
            if provider_tokens > limits.provider {
                provider_room = shrunk(provider_len, limits.provider, provider_tokens, attempt).min(provider_room);
            }
        }
        best.unwrap_or_default()
    }

    /// Finds how long each text is once escaped; beyond `most` bytes it does not matter.
    #[inline(never)]
    fn measure(&mut self, most: usize) {
        let style = self.style();
        let mut scratch = String::new();
        for item in &mut self.items {
            scratch.clear();
            let (read, _) = escape_prefix(&mut scratch, item.text, style, most);
            item.len = scratch.len() + if item.cut { ELLIPSIS.len_utf8() } else { 0 };
            if read < item.text.len() {
                item.len = most.saturating_add(1);
            }
        }
    }

    fn style(&self) -> Style {
        Style::TEXT.marked(self.mark)
    }

    /// Writes the part within `room` bytes, each provider's elements within `provider_room`; nothing if no element fits.
    #[inline(never)]
    fn render(&self, room: usize, provider_room: usize) -> Written {
        let frame = 2 * self.frame.len() + "<>\n\n</>\n".len() + self.notice.len();
        let Some(total) = room.checked_sub(frame) else {
            return Written::default();
        };
        let mut written = self.elements(total, provider_room);
        let mut omitted = self.items.len() - written.included.len();
        let mut report = String::new();
        if omitted > 0 {
            let longest = omitted_report(self.items.len()).len();
            written = self.elements(total.saturating_sub(longest), provider_room);
            omitted = self.items.len() - written.included.len();
            report = omitted_report(omitted);
        }
        if written.included.is_empty() {
            return Written::default();
        }
        written.text =
            ["<", &self.frame, ">\n", self.notice, "\n", &written.text, &report, "</", &self.frame, ">\n"].concat();
        written
    }

    /// The elements alone, within `total` bytes.
    fn elements(&self, total: usize, provider: usize) -> Written {
        let share = (total as f64 * self.share) as usize;
        let least = if self.names_alone { 0 } else { (total / 8).clamp(SHORTEST, 320) };
        let (slots, mut ledger) = fill(&self.items, Room { total, provider, share, least });
        let mut written = Written { complete: slots.len() == self.items.len(), ..Written::default() };
        for slot in &slots {
            let Some(item) = self.items.get(slot.item) else {
                continue;
            };
            // What earlier texts left unused when they were cut at the end of a word.
            let more = item.len.saturating_sub(slot.text).min(ledger.left(item));
            let more = if slot.text + more >= item.len.min(SHORTEST) && ledger.take(item, more) { more } else { 0 };
            let start = written.text.len();
            let used = self.push_element(&mut written, item, slot, slot.text + more);
            ledger.give_back(item, (slot.text + more).saturating_sub(used));
            written.included.push(slot.item);
            written.complete &= !slot.lean && slot.text + more >= item.len;
            if written.providers.len() <= item.provider {
                written.providers.resize(item.provider + 1, String::new());
            }
            let element = written.text.get(start..).unwrap_or_default();
            if let Some(joined) = written.providers.get_mut(item.provider) {
                joined.push_str(element);
            }
        }
        written
    }

    /// Writes one element and returns the bytes that its text took.
    fn push_element(&self, written: &mut Written, item: &Item, slot: &Slot, room: usize) -> usize {
        let label = item.label(slot.lean);
        written.hidden += label.hidden;
        let out = &mut written.text;
        out.push_str(&label.head);
        out.push('>');
        let start = out.len();
        if room >= item.len {
            written.hidden += escape(out, item.text, self.style());
            if item.cut {
                out.push(ELLIPSIS);
            }
        } else {
            written.shortened += 1;
            written.hidden += push_shortened(out, item.text, self.style(), room);
        }
        let used = out.len() - start;
        if used == 0 && label.tail.is_empty() {
            out.truncate(start - ">".len());
            out.push_str("/>\n");
        } else {
            out.push_str(&label.tail);
            out.push_str("</");
            out.push(self.element);
            out.push_str(">\n");
        }
        used
    }
}

/// Writes a beginning of `text` and an ellipsis within `room` bytes, or nothing; returns the invisible controls in it.
fn push_shortened(out: &mut String, text: &str, style: Style, room: usize) -> usize {
    let Some(room) = room.checked_sub(ELLIPSIS.len_utf8()) else {
        return 0;
    };
    let start = out.len();
    let (read, _) = escape_prefix(out, text, style, room);
    let mut kept = truncate(text, read);
    loop {
        out.truncate(start);
        if kept.is_empty() {
            return 0;
        }
        let hidden = escape(out, kept, style);
        if out.len() - start <= room {
            out.push(ELLIPSIS);
            return hidden;
        }
        // A joiner at the very end is written out once its partner is gone.
        kept = kept.get(..kept.floor_char_boundary(kept.len() - 1)).unwrap_or_default();
    }
}

/// `len` bytes counted `count`: the length that should count `tokens`.
fn grown(len: usize, tokens: usize, count: usize) -> usize {
    if len == count { tokens } else { (len as f64 * tokens as f64 / count.max(1) as f64) as usize }
}

fn omitted_report(count: usize) -> String {
    ["<omitted count=\"", &count.to_string(), "\" for=\"space\"/>\n"].concat()
}
