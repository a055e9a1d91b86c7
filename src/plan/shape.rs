//! How a prompt asks: of something that was, or of how to do a thing; of the user, or of the model. English.

use serde::{Deserialize, Serialize};

use super::{is_command, is_question};

/// The shape of a prompt, told by its closed words.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Shape {
    /// Whether it is a question at all: by its first words, by its mark, or because it only names something.
    pub question: bool,
    /// Whether it asks how or why in general: `how do I`, `why are`, `should we`, `how many does a piano have`.
    pub advice: bool,
    /// Whether it asks what or who something is.
    pub definition: bool,
    /// Whether it asks whether something is so.
    pub whether: bool,
    /// Whether it asks what somebody would do.
    pub would: bool,
    /// Whether it asks about the user: `did I`, `am I`, `have I`.
    pub own: bool,
    /// Whether it says what the user is, wants or has.
    pub wish: bool,
    /// Whether it addresses the model.
    pub addressed: bool,
    /// How many indefinite articles it has: `a piano`, rather than `the piano`.
    pub articles: usize,
}

/// The shape of a prompt; `words` are folded.
#[inline(never)]
pub fn shape(text: &str, words: &[&str]) -> Shape {
    let word = |at: usize| words.get(at).copied().unwrap_or("");
    let pair = |firsts: &[&str], seconds: &[&str]| firsts.contains(&word(0)) && seconds.contains(&word(1));
    let anywhere = |matches: &dyn Fn(&str, &str) -> bool| (0..words.len()).any(|at| matches(word(at), word(at + 1)));
    let is = ["is", "are"];
    // `What's the` is cut to `what the`.
    let advice = pair(&["how"], &["to", "do", "can", "could", "should", "would"])
        || pair(&["why"], &["do", "does", "is", "are"])
        || pair(&["should", "can", "could"], &["i", "you", "we"])
        || pair(&["what"], &["should"])
        || (pair(&["how"], &["many", "much", "long", "far", "often"]) && of_a_kind(words));
    // A few words that order nothing name what they ask for.
    let terse = (1..=4).contains(&words.len()) && !is_command(words);
    let would = word(0) == "would" || word(1) == "would";
    Shape {
        question: would || terse || is_question(words) || text.trim_end().ends_with(['?', '？']),
        advice,
        definition: pair(&["what", "who", "which"], &is)
            || pair(&["what", "who"], &["a", "an", "the"])
            || word(0) == "whats",
        whether: ["is", "are", "do", "does"].contains(&word(0)),
        would,
        own: !advice
            && anywhere(&|first, second| {
                second == "i" && ["am", "did", "do", "had", "have", "may", "must", "was", "will"].contains(&first)
            }),
        wish: anywhere(&|first, second| match first {
            "i" => ["am", "feel", "have", "just", "like", "need", "think", "want", "was", "will", "would"]
                .contains(&second),
            _ => ["id", "im", "ive"].contains(&first),
        }),
        addressed: words.iter().any(|word| ["you", "your", "yours", "yourself"].contains(word)),
        articles: words.iter().filter(|word| ["a", "an"].contains(word)).count(),
    }
}

/// Whether it speaks, in the present, of any one of a kind: `does a piano`, `are in a year`. Of a thing remembered it would be `the`, or a name.
#[inline(never)]
fn of_a_kind(words: &[&str]) -> bool {
    let present = words.iter().position(|word| ["do", "does", "is", "are"].contains(word));
    present.is_some_and(|at| words.iter().skip(at + 1).any(|word| ["a", "an"].contains(word)))
        && !words.iter().any(|word| ["i", "me", "my", "we", "us", "our", "the"].contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_have_shapes() {
        let of = |text: &str| {
            let mut words = Vec::new();
            crate::text::tokenize(text, &mut |token| words.push(token.surface.to_string()));
            shape(text, &words.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let asked = of("When did I order the boiler?");
        assert!(asked.question && asked.own && !asked.advice && !asked.wish);
        assert!(of("How do I order a boiler").advice && !of("How do I order a boiler").own);
        assert!(of("Is a boiler an oven?").articles == 2 && of("the boiler, which one?").question);
        assert!(of("I'd like to order one").wish && of("What's a boiler?").definition);
        assert!(of("Could you order one for us").addressed && of("Would Ana order one?").would);
        assert!(of("How many keys does a piano have?").advice && of("How much is in an ounce?").advice);
        assert!(
            !of("How many keys does my piano have, a lot?").advice && !of("How many keys does the piano have?").advice
        );
        assert!(!of("How many keys did a piano have?").advice);
        assert_eq!(of(""), Shape::default());
    }
}
