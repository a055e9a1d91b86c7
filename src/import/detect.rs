//! Which reader a file is for.

/// A format that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// A note with or without front matter.
    Markdown,
    /// A record, topic or known entity as JSON on each line.
    Records,
    /// The MCP memory server's graph: an entity or relation as JSON on each line.
    McpGraph,
    /// ChatGPT's `conversations.json`.
    ChatGpt,
}

/// The format of a file, from its name and its first bytes (a few kilobytes are enough). `None` for anything that no reader is for.
pub fn detect(name: &str, first: &[u8]) -> Option<Format> {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default().to_lowercase();
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    match extension {
        "md" | "markdown" => Some(Format::Markdown),
        "jsonl" | "ndjson" | "json" => json(&name, extension == "json", first),
        _ => None,
    }
}

fn json(name: &str, whole: bool, first: &[u8]) -> Option<Format> {
    let first = first.strip_prefix("\u{feff}".as_bytes()).unwrap_or(first);
    let text = String::from_utf8_lossy(first);
    let text = text.trim_start();
    let speaks_of = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let chat = speaks_of(&["\"mapping\"", "\"current_node\"", "\"conversation_id\"", "\"conversation_template_id\""]);
    if text.starts_with('[') || whole && text.starts_with('{') && chat {
        let empty = text.get(1..).is_some_and(|rest| rest.trim_start().starts_with(']'));
        let named = name.starts_with("conversations");
        return (chat || named && (empty || speaks_of(&["\"title\"", "\"create_time\""]))).then_some(Format::ChatGpt);
    }
    if text.starts_with('{') && speaks_of(&["\"entityType\"", "\"relationType\"", "\"observations\""]) {
        return Some(Format::McpGraph);
    }
    (!whole).then_some(Format::Records)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reader_is_chosen_by_name_and_content() {
        let cases = [
            ("notes/a.md", "", Some(Format::Markdown)),
            ("A.MARKDOWN", "x", Some(Format::Markdown)),
            ("r.jsonl", "{\"id\":\"a\",\"statement\":\"b\"}", Some(Format::Records)),
            ("r.jsonl", "{\"type\":\"entity\",\"name\":\"rhea\",\"aliases\":[]}", Some(Format::Records)),
            ("r.ndjson", "", Some(Format::Records)),
            ("r.jsonl", "broken", Some(Format::Records)),
            (
                "memory.jsonl",
                "{\"type\":\"entity\",\"name\":\"a\",\"entityType\":\"person\",\"observations\":[]}",
                Some(Format::McpGraph),
            ),
            (
                "memory.json",
                "\u{feff} {\"type\":\"relation\",\"from\":\"a\",\"to\":\"b\",\"relationType\":\"knows\"}",
                Some(Format::McpGraph),
            ),
            ("conversations.json", "[{\"title\":\"a\",\"create_time\":1.5", Some(Format::ChatGpt)),
            ("conversations.json", "[]", Some(Format::ChatGpt)),
            ("export.json", "[{\"async_status\":null,\"conversation_id\":\"a\"", Some(Format::ChatGpt)),
            ("one.json", "{\"title\":\"a\",\"mapping\":{", Some(Format::ChatGpt)),
            ("package.json", "{\"name\":\"a\"}", None),
            ("list.json", "[1, 2]", None),
            ("list.jsonl", "[1, 2]", None),
            ("photo.png", "\u{89}PNG", None),
            ("README", "text", None),
            ("", "", None),
        ];
        for (name, first, expected) in cases {
            assert_eq!(detect(name, first.as_bytes()), expected, "{name}: {first}");
        }
    }
}
