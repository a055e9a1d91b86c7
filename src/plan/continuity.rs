//! The manner of a prompt: does it look back, does it give an order, does it speak of the user's own affairs?

/// Runs of folded words that look back at earlier work. More than one language, because people write in theirs.
#[rustfmt::skip]
const CONTINUITY: &[&str] = &[
    "last time", "last session", "last conversation", "last week", "we decided", "did we decide", "we agreed", "we discussed",
    "we talked about", "we said", "we were", "did we", "have we", "i told you", "i mentioned", "i said", "remember",
    "remind me", "continue", "carry on", "keep going", "go on", "pick up", "picking up", "resume", "again", "as before", "like before", "earlier",
    "previously", "left off", "leave off", "where were we", "back to", "whats next", "next", "next step", "next steps", "still open", "outstanding",
    "unfinished", "pending", "follow up", "status", "progress", "so far", "usual", "as usual", "i prefer", "what i need", "what i like", "how i like",
    "letztes mal", "weiter", "weitermachen", "wieder", "erinnere", "haben wir", "derniere fois", "continuer", "continuons", "encore", "rappelle",
    "on avait decide", "ultima vez", "continua", "continuar", "seguimos", "recuerda", "recuerdas", "decidimos",
    "前回", "続き", "この前", "上次", "继续", "之前", "지난번", "계속", "이어서",
];

/// First words of a request to produce something, which long-term memory rarely helps with.
#[rustfmt::skip]
const COMMANDS: &[&str] = &[
    "act", "add", "analyze", "arrange", "assume", "brainstorm", "build", "calculate", "categorize", "change", "check", "choose", "classify",
    "come", "compare", "complete", "compose", "compute", "convert", "correct", "craft", "create", "define", "design", "develop", "describe",
    "draft", "edit", "elaborate", "estimate", "evaluate", "explain", "extract", "fix", "format", "generate", "give", "identify", "imagine", "implement", "improve",
    "list", "make", "name", "organize", "outline", "paraphrase", "pick", "plan", "predict", "prepare", "pretend", "produce", "propose", "prove", "provide", "recommend", "refactor",
    "rephrase", "rewrite", "select", "simplify", "solve", "sort", "suggest", "summarize", "summarise", "suppose", "translate", "turn", "write",
];

/// For each phrase, the [`mark`] of its first word.
static MARKS: [u64; CONTINUITY.len()] = {
    let mut marks = [0; CONTINUITY.len()];
    let mut at = 0;
    while at < marks.len() {
        marks[at] = mark(CONTINUITY[at]);
        at += 1;
    }
    marks
};

/// A bit for a first word by its first bytes: it rules most phrases out without a look at the words.
const fn mark(phrase: &str) -> u64 {
    let bytes = phrase.as_bytes();
    let (mut hash, mut at) = (0u8, 0);
    while at < bytes.len() && at < 4 && bytes[at] != b' ' {
        hash = hash.wrapping_mul(31).wrapping_add(bytes[at]);
        at += 1;
    }
    1 << (hash & 63)
}

/// The phrases by which the prompt looks back. `words` are folded.
pub fn continuity(words: &[&str]) -> impl Iterator<Item = &'static str> {
    let marks = words.iter().fold(0, |marks, word| marks | mark(word));
    let spoken =
        if words.iter().all(|word| word.is_ascii()) { String::new() } else { format!(" {} ", words.join(" ")) };
    let phrases = CONTINUITY.iter().copied().zip(&MARKS).filter(move |(_, mark)| marks & **mark != 0);
    phrases.map(|(phrase, _)| phrase).filter(move |phrase| {
        if phrase.is_ascii() { contains(words, phrase) } else { bigrams_contain(&spoken, phrase) }
    })
}

/// Whether the words of the phrase stand among `words`, one after the other.
fn contains(words: &[&str], phrase: &str) -> bool {
    (0..words.len()).any(|at| {
        let mut rest = words.get(at..).unwrap_or(&[]).iter();
        phrase.split(' ').all(|part| rest.next() == Some(&part))
    })
}

/// Scripts without spaces arrive as bigrams; a phrase is there if all its bigrams are.
fn bigrams_contain(spoken: &str, phrase: &str) -> bool {
    let mut all = true;
    crate::text::tokenize(phrase, &mut |token| all &= spoken.contains(&format!(" {} ", token.surface)));
    all
}

/// Whether the prompt begins like an order to produce something.
#[inline(never)]
pub fn is_command(words: &[&str]) -> bool {
    let polite = [
        "please", "can", "could", "you", "would", "i", "want", "need", "to", "help", "me", "now", "id", "like", "hey",
        "hi", "the",
    ];
    let first = words.iter().find(|word| !polite.contains(word));
    first.is_some_and(|word| COMMANDS.binary_search(word).is_ok() || COMMANDS.contains(word))
}

/// Words of tasks set to a model, rather than of anything remembered.
#[rustfmt::skip]
const TASKS: &[&str] = &[
    "algorithm", "array", "article", "blog", "bullet", "class", "code", "css", "dataset", "dialogue", "email", "equation",
    "essay", "example", "examples", "fiction", "fictional", "following", "function", "given", "haiku", "headline", "html",
    "input", "integer", "java", "javascript", "json", "keyword", "keywords", "letter", "letters", "limerick", "list",
    "lowercase", "markdown", "number", "numbers", "outline", "output", "paragraph", "paragraphs", "placeholder", "placeholders", "poem",
    "poems", "prompt", "python", "recipe", "response", "resume", "return", "returns", "sentence", "sentences", "sql", "step", "steps", "story",
    "string", "strings", "summary", "tagline", "text", "title", "tutorial", "tweet", "uppercase", "word", "words",
];

/// How many words of the prompt are of tasks.
#[inline(never)]
pub fn tasks(words: &[&str]) -> usize {
    words.iter().filter(|word| TASKS.binary_search(word).is_ok()).count()
}

/// First words of questions about something that is or was, folded, in several languages.
#[rustfmt::skip]
const QUESTIONS: &[&str] = &[
    "combien", "como", "cual", "cuando", "cuanta", "cuantas", "cuanto", "cuantos", "did", "do", "does", "donde", "had", "has", "is", "ou", "pourquoi",
    "quand", "que", "quel", "quelle", "quelles", "quels", "qui", "quien", "quoi", "wann", "warum", "was", "welche", "welchem", "welchen", "welcher",
    "welches", "wem", "wer", "were", "weshalb", "wessen", "what", "whats", "when", "where", "wheres", "which", "who", "whos", "whose", "wie", "wo",
    "woher", "wohin", "womit",
];

/// Pairs that ask, in languages written without spaces, wherever they stand.
#[rustfmt::skip]
const ASKING_PAIRS: &[&str] = &[
    "どこ", "いつ", "だれ", "なぜ", "すか", "たか", "るか", "什么", "哪里", "哪个", "多少", "怎么", "언제", "어디", "누구", "무엇", "얼마", "무슨", "뭐야", "니까", "나요",
];

/// Whether the prompt asks about something that is or was.
#[inline(never)]
pub fn is_question(words: &[&str]) -> bool {
    let asks = |word: &&str| ASKING_PAIRS.contains(word) || word.contains(['何', '誰', '谁', '几', '吗', '몇']);
    words.iter().take(2).any(|word| QUESTIONS.binary_search(word).is_ok()) || words.iter().any(asks)
}

/// Words for the user's own things, in several languages.
#[rustfmt::skip]
const OWN: &[&str] = &[
    "my", "our", "ours", "mine", "we", "us", "weve", "mein", "meine", "unser", "unsere", "mon", "ma", "mes", "notre", "nos", "mi", "mis", "nuestro",
    "nuestra",
];

/// Words before `I` and `me` that ask for help rather than tell of the user: `how can I`, `give me`.
#[rustfmt::skip]
const BEFORE_HELP: &[&str] = &[
    "and", "ask", "before", "can", "could", "do", "explain", "find", "for", "give", "help", "if", "let", "make", "send", "should", "show", "teach",
    "tell", "to", "when", "would", "write",
];

/// Whether the prompt speaks of the user's own affairs.
#[inline(never)]
pub fn is_personal(words: &[&str]) -> bool {
    let of_user = |pair: &[&str]| matches!(pair, [before, "i" | "me"] if !BEFORE_HELP.contains(before));
    words.iter().any(|word| OWN.contains(word)) || words.get(2..).unwrap_or(&[]).windows(2).any(of_user)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_looking_back_from_asking_anew() {
        let words = |text: &str| {
            let mut words = Vec::new();
            crate::text::tokenize(text, &mut |token| words.push(token.surface.to_string()));
            words
        };
        for (text, expected) in [
            ("What did we decide about refunds?", Some("did we decide")),
            ("continue", Some("continue")),
            ("next", Some("next")),
            ("前回の続きをお願い", Some("前回")),
            ("What is the capital of France?", None),
            ("Write a haiku", None),
        ] {
            let words = words(text);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            assert_eq!(continuity(&words).next(), expected, "{text}");
        }
    }

    #[test]
    fn every_phrase_is_heard_among_others() {
        for phrase in CONTINUITY {
            for spoken in [phrase.to_string(), format!("Zoë knows, {phrase}: yes.")] {
                let mut words = Vec::new();
                crate::text::tokenize(&spoken, &mut |token| words.push(token.surface.to_string()));
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                assert!(continuity(&words).any(|heard| heard == *phrase), "{phrase} in {spoken}");
            }
        }
    }

    #[test]
    fn lists_are_sorted_for_the_search() {
        assert!(TASKS.is_sorted() && QUESTIONS.is_sorted());
    }

    #[test]
    fn orders_are_told_by_their_first_verb() {
        assert!(is_command(&["please", "write", "a", "poem"]));
        assert!(!is_command(&["what", "did", "we", "write"]));
    }
}
