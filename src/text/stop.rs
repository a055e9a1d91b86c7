use super::list::List;

/// What a word does in a sentence, as far as a closed list can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It may carry the topic.
    Content,
    /// Grammar and question words: they neither rank nor admit.
    Function,
    /// Words of every request and every conversation (`tell`, `remember`, `please`, `thing`): they may rank a
    /// record and never admit one.
    Generic,
}

/// The role of a folded word.
pub fn role(word: &str) -> Role {
    if FUNCTION.holds(word) {
        Role::Function
    } else if GENERIC.holds(word) {
        Role::Generic
    } else {
        Role::Content
    }
}

/// Sorted. Articles, pronouns, prepositions, conjunctions, auxiliaries, question words, with the apostrophes taken out.
#[rustfmt::skip]
const FUNCTION: &List = &List::new(&[
    "a", "about", "above", "after", "all", "also", "am", "an", "and", "any", "anybody", "anyone", "anything", "are",
    "arent", "as", "at", "be", "because", "been", "before", "being", "below", "between", "both", "but", "by", "can",
    "cannot", "cant", "could", "couldnt", "did", "didnt", "do", "does", "doesnt", "doing", "done", "dont", "during",
    "each", "either", "else", "etc", "ever", "every", "everybody", "everyone", "everything", "few", "for", "from",
    "had", "hadnt", "has", "hasnt", "have", "havent", "having", "he", "hed", "hell", "her", "here", "hers", "herself",
    "hes", "him", "himself", "his", "how", "hows", "i", "id", "if", "ill", "im", "in", "into", "is", "isnt", "it",
    "itd", "itll", "its", "itself", "ive", "just", "let", "lets", "many", "may", "me", "might", "mine", "more",
    "most", "much", "must", "my", "myself", "neither", "nor", "of", "off", "on", "onto", "or", "other", "our", "ours",
    "ourselves", "out", "over", "own", "per", "rather", "shall", "shant", "she", "shed", "shell", "shes", "should",
    "shouldnt", "since", "so", "some", "somebody", "someone", "something", "such", "than", "that", "thats", "the",
    "their", "theirs", "them", "themselves", "then", "there", "theres", "these", "they", "theyd", "theyll", "theyre",
    "theyve", "this", "those", "though", "through", "to", "too", "under", "until", "up", "upon", "us", "very", "was",
    "wasnt", "we", "wed", "well", "were", "werent", "weve", "what", "whatever", "whats", "when", "whenever", "whens",
    "where", "wheres", "whether", "which", "while", "who", "whom", "whos", "whose", "why", "whys", "will", "with",
    "within", "without", "wont", "would", "wouldnt", "yes", "yet", "you", "youd", "youll", "your", "youre", "yours",
    "yourself", "yourselves", "youve",
]);

/// Sorted. See [`Role::Generic`].
#[rustfmt::skip]
const GENERIC: &List = &List::new(&[
    "actually", "again", "always", "answer", "anyway", "ask", "bit", "come", "describe", "exactly", "explain", "find",
    "get", "give", "go", "going", "gonna", "good", "great", "guess", "help", "hey", "hi", "kind", "know", "like",
    "likely", "lot", "make", "maybe", "mean", "mention", "need", "never", "new", "nice", "not", "now", "oh", "ok",
    "okay", "one", "only", "please", "probably", "question", "really", "remember", "said", "say", "see", "show",
    "sort", "still", "sure", "take", "tell", "thank", "thanks", "thing", "things", "think", "thought", "try", "use",
    "used", "using", "want", "way", "work", "would", "write", "yeah",
]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_for_the_search() {
        assert!(FUNCTION.is_sound() && GENERIC.is_sound());
    }

    #[test]
    fn tells_grammar_from_content() {
        assert_eq!(role("what"), Role::Function);
        assert_eq!(role("please"), Role::Generic);
        assert_eq!(role("kafka"), Role::Content);
    }
}
