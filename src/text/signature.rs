use super::stop::{Role, role};
use super::tokenize::{Kind, Token, normalize, tokenize};

/// What a text says, in nine bytes: enough to tell at a glance that two texts are no repeats of each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    /// A bit for each distinct word that carries meaning, by its hash.
    bits: u64,
    /// How many such words there are; 255 stands for that many or more.
    words: u8,
}

/// Share of words in common from which two texts say the same.
pub const NEAR: f64 = 0.9;

/// What a token counts for where texts are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// A negation: it must not differ.
    Negation,
    /// A number, an identifier, a single letter: it must not differ.
    Exact,
    /// A word that carries meaning; a tenth of them may differ.
    Word,
    /// A word of grammar.
    None,
}

impl Weight {
    /// The weight of a token.
    pub fn of(token: &Token<'_>) -> Weight {
        let function = role(token.surface) == Role::Function;
        if is_negation(token.surface) || (function && token.surface.ends_with("nt")) {
            Weight::Negation
        } else if matches!(token.kind, Kind::Number | Kind::Identifier) || token.surface.len() == 1 {
            Weight::Exact
        } else if function {
            Weight::None
        } else {
            Weight::Word
        }
    }
}

fn is_negation(word: &str) -> bool {
    matches!(
        word,
        "not"
            | "no"
            | "never"
            | "none"
            | "without"
            | "nor"
            | "nicht"
            | "kein"
            | "keine"
            | "pas"
            | "jamais"
            | "sin"
            | "nunca"
            | "ない"
    )
}

impl Signature {
    /// Length of [`to_bytes`](Self::to_bytes).
    pub const BYTES: usize = 9;

    /// The signature of a text.
    pub fn of(text: &str) -> Signature {
        let mut words: Vec<String> = Vec::new();
        tokenize(text, &mut |token| {
            if Weight::of(&token) == Weight::Word {
                words.push(normalize(&token).into_owned());
            }
        });
        words.sort_unstable();
        words.dedup();
        let mut signature = Signature::default();
        words.iter().for_each(|word| signature.add(Signature::bit(word)));
        signature
    }

    /// The bit of a normalized word. FNV-1a (Fowler, Noll, Vo), folded to six bits.
    pub fn bit(word: &str) -> u8 {
        let hash = word
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
        ((hash ^ (hash >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as u8
    }

    /// Adds a distinct word by its [`bit`](Self::bit).
    pub fn add(&mut self, bit: u8) {
        self.bits |= 1 << (bit & 63);
        self.words = self.words.saturating_add(1);
    }

    /// The form that a snapshot keeps.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [self.words; Self::BYTES];
        if let Some(head) = bytes.first_chunk_mut() {
            *head = self.bits.to_le_bytes();
        }
        bytes
    }

    /// Reads [`to_bytes`](Self::to_bytes).
    pub fn from_bytes(bytes: [u8; Self::BYTES]) -> Signature {
        let [bits @ .., words] = bytes;
        Signature { bits: u64::from_le_bytes(bits), words }
    }

    /// False only if the two texts cannot be repeats: of n and m distinct words with the share [`NEAR`] in common, at most
    /// (1 − NEAR)(n + m) / (1 + NEAR) are in one text alone, and each of those sets or clears one bit at most.
    pub fn may_repeat(self, other: Signature) -> bool {
        if self.words == u8::MAX && other.words == u8::MAX {
            return true;
        }
        let (less, more) = (self.words.min(other.words), self.words.max(other.words));
        if f64::from(less) < NEAR * f64::from(more) {
            return false;
        }
        let alone = (1.0 - NEAR) / (1.0 + NEAR) * (f64::from(less) + f64::from(more));
        // Rounding must not take away what is allowed.
        f64::from((self.bits ^ other.bits).count_ones()) <= alone + 1e-6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_give_the_signature_back() {
        let signature = Signature::of("Refunds are rounded to the cent, never 2 of them");
        assert_eq!(Signature::from_bytes(signature.to_bytes()), signature);
        assert_eq!(signature.words, 3, "refunds, rounded, cent");
    }

    #[test]
    fn other_texts_are_told_apart() {
        let a = Signature::of("The nightly export of the ledger runs at three in the morning");
        let b = Signature::of("Window seats in the quiet coach are what she likes on trains");
        assert!(!a.may_repeat(b) && a.may_repeat(a));
    }
}
