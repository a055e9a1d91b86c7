use crate::text::Beginnings;

/// Hand-written groups of words that stand for one idea, by stem. Small on purpose: they help where the
/// wording of operations work differs, and are no substitute for a trained model.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "authentication",
        &[
            "auth",
            "authent",
            "authenti",
            "authentic",
            "credenti",
            "jwt",
            "login",
            "logout",
            "oauth",
            "password",
            "session",
            "signin",
            "sso",
            "token",
        ],
    ),
    ("aws", &["aw", "amazon", "bedrock", "cloudfront", "dynamodb", "ec2", "iam", "lambda", "s3", "sagemak"]),
    ("postgresql", &["pg", "pgvector", "postgr", "postgresql", "psql", "sql", "databas", "vacuum"]),
    (
        "failure",
        &[
            "broken", "bug", "crash", "degrad", "error", "fail", "failur", "fault", "incid", "outag", "regress",
            "timeout",
        ],
    ),
    ("decision", &["agre", "agreement", "choic", "choos", "chose", "conclud", "conclus", "decid", "decis", "settl"]),
    ("deployment", &["cd", "ci", "deploy", "pipelin", "publish", "releas", "rollback", "rollout", "ship"]),
    (
        "queue",
        &[
            "backlog", "broker", "consum", "event", "kafka", "lag", "messag", "produc", "queue", "rabbitmq", "sqs",
            "stream", "topic",
        ],
    ),
];

const BEGINNINGS: Beginnings = {
    let mut beginnings = Beginnings::new();
    let mut group = 0;
    while group < GROUPS.len() {
        let stems = GROUPS[group].1;
        let mut stem = 0;
        while stem < stems.len() {
            beginnings = beginnings.and(stems[stem].as_bytes(), 0);
            stem += 1;
        }
        group += 1;
    }
    beginnings
};

/// Names of the concepts that a stem belongs to.
pub(super) fn concepts(stem: &str) -> impl Iterator<Item = &'static str> + '_ {
    let groups = if BEGINNINGS.may_begin(stem.as_bytes()) { GROUPS } else { &[] };
    groups.iter().filter(move |(_, stems)| stems.contains(&stem)).map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::stem;

    #[test]
    fn words_of_one_idea_share_a_concept() {
        for (word, concept) in [
            ("login", "authentication"),
            ("credentials", "authentication"),
            ("bedrock", "aws"),
            ("postgres", "postgresql"),
            ("failed", "failure"),
            ("outages", "failure"),
            ("decided", "decision"),
            ("chosen", "decision"),
            ("deployments", "deployment"),
            ("kafka", "queue"),
        ] {
            assert!(concepts(&stem(word)).any(|name| name == concept), "{word} stems to {}", stem(word));
        }
        assert_eq!(concepts("giraff").count(), 0);
    }
}
