use serde::{Deserialize, Serialize};

use super::{Mask, Store, View};
use crate::error::{Error, ErrorCode};
use crate::index::{Span, SpanKind};
use crate::memory::{Record, Scope, Timestamp};
use crate::snapshot::Segment;
use crate::text;

/// Whose themes, and how many.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ThemesRequest {
    /// In whose name; none sees global records only.
    pub scope: Scope,
    /// The present; without it nothing expires.
    pub now: Option<Timestamp>,
    /// The most themes, 1 to 1,000. Default 10.
    pub limit: usize,
}

impl Default for ThemesRequest {
    fn default() -> Self {
        ThemesRequest { scope: Scope::global(), now: None, limit: 10 }
    }
}

/// Records that belong together, and what they are about in their own words.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Theme {
    /// The topic or heading that most of them share, else up to three words that set them apart.
    pub title: String,
    /// Up to three of their sentences, oldest first.
    pub summary: String,
    /// Number of records in it that may be seen.
    pub size: usize,
    /// Ids of the most central of them, best first; at most 16.
    pub record_ids: Vec<String>,
    /// Their scope.
    pub scope: Scope,
    /// When one of them was last changed.
    pub updated: Option<Timestamp>,
}

/// The fewest visible records that make a theme.
const LEAST: usize = 2;
/// The most ids that a theme names.
const BUNDLE: usize = 16;
/// The longest title that stands in for a missing one, in bytes.
const TITLE_BYTES: usize = 60;

impl Store {
    /// The communities of records that a request may see, largest first.
    ///
    /// They were worked out when the snapshot was built: what was learned since belongs to one after
    /// [`compact`](Self::compact). What was forgotten, replaced or has expired since is in none, and its words are in no
    /// title and no summary.
    ///
    /// # Errors
    ///
    /// `INVALID_REQUEST` if the limit is out of range, `SNAPSHOT_CORRUPT` if a record does not decode.
    pub fn themes(&self, request: &ThemesRequest) -> Result<Vec<Theme>, Error> {
        if !(1..=1000).contains(&request.limit) {
            return Err(Error::new(ErrorCode::InvalidRequest, "limit must be 1 to 1000"));
        }
        self.themes_in(&View { scope: request.scope.clone(), now: request.now, ..View::default() }, request.limit)
    }

    /// [`themes`](Self::themes), of the records that a view sees.
    ///
    /// # Errors
    ///
    /// `SNAPSHOT_CORRUPT` if a record does not decode.
    pub fn themes_in(&self, view: &View, limit: usize) -> Result<Vec<Theme>, Error> {
        let segment = self.base();
        let masks = self.masks(view);
        let [mask, _] = &*masks;
        let links = segment.links();
        let mut visible: Vec<(usize, Option<Timestamp>, u32)> = Vec::new();
        for community in 0..links.community_count() as u32 {
            let members = links.members_of(community).iter().filter(|member| mask.sees(*member));
            let (mut size, mut updated) = (0, None);
            for member in members {
                size += 1;
                updated = updated.max(segment.facts(member).and_then(|facts| facts.changed));
            }
            if size >= LEAST {
                visible.push((size, updated, community));
            }
        }
        visible.sort_by(|a, b| (b.0, b.1).cmp(&(a.0, a.1)).then(a.2.cmp(&b.2)));
        visible.truncate(limit);
        visible.into_iter().map(|(size, updated, community)| theme(segment, mask, size, updated, community)).collect()
    }
}

fn theme(
    segment: &Segment,
    mask: &Mask,
    size: usize,
    updated: Option<Timestamp>,
    community: u32,
) -> Result<Theme, Error> {
    let links = segment.links();
    let members = links.members_of(community);
    let bundle: Vec<u32> = members.iter().filter(|member| mask.sees(*member)).take(BUNDLE).collect();
    let mut theme = Theme { size, updated, ..Theme::default() };
    for span in links.spans_of(community).filter(|span| mask.sees(span.record)) {
        let record = segment.record(span.record)?;
        let Some(piece) = piece(&record, span) else { continue };
        let (text, between) =
            if span.kind == SpanKind::Sentence { (&mut theme.summary, " ") } else { (&mut theme.title, ", ") };
        if !text.is_empty() {
            text.push_str(between);
        }
        text.push_str(piece);
    }
    theme.record_ids = bundle.iter().map(|member| segment.id(*member).to_string()).collect();
    if let Some(first) = bundle.first() {
        let record = segment.record(*first)?;
        if theme.title.is_empty() {
            theme.title.push_str(text::truncate(record.text(), TITLE_BYTES));
        }
        theme.scope = record.scope;
    }
    Ok(theme)
}

fn piece(record: &Record, span: Span) -> Option<&str> {
    let field = match span.kind {
        SpanKind::Sentence | SpanKind::Word => record.text(),
        SpanKind::Topic => record.topic.as_deref()?,
        SpanKind::Title => &record.title,
    };
    field.get(span.start as usize..span.end as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::{IndexConfig, SnapshotBuilder};

    fn pottery() -> Vec<Record> {
        let texts = [
            "The kiln broke during glaze firing.",
            "The kiln needs a new element before the next glaze firing.",
            "A hotter kiln suits the celadon glaze.",
            "Shelves in the kiln are cracked by glaze drips.",
        ];
        let record = |(at, text): (usize, &&str)| Record {
            created: Some(Timestamp(at as i64)),
            ..Record::new(format!("k{at}"), *text)
        };
        texts.iter().enumerate().map(record).collect()
    }

    fn store(records: Vec<Record>) -> Store {
        let mut builder = SnapshotBuilder::new(IndexConfig::default(), None);
        builder.add(Record::new("other", "My bicycle has a flat tyre.")).unwrap();
        records.into_iter().for_each(|record| builder.add(record).unwrap());
        Store::new(builder.finish_segment().unwrap(), None).unwrap()
    }

    fn themes(store: &Store) -> Vec<Theme> {
        store.themes(&ThemesRequest::default()).unwrap()
    }

    #[test]
    fn a_theme_has_a_title_a_summary_and_its_records() {
        let themes = themes(&store(pottery()));
        let [theme] = themes.as_slice() else { panic!("{themes:?}") };
        assert!(theme.title.contains("kiln") && theme.title.contains("glaze"), "{}", theme.title);
        assert!(theme.summary.contains("kiln") && theme.summary.ends_with('.'), "{}", theme.summary);
        assert_eq!((theme.size, theme.record_ids.len(), theme.updated), (4, 4, Some(Timestamp(3))));
    }

    #[test]
    fn a_shared_topic_is_the_title() {
        let with_topic = |record| Record { topic: Some("Pottery".into()), ..record };
        assert_eq!(themes(&store(pottery().into_iter().map(with_topic).collect()))[0].title, "Pottery");
    }

    #[test]
    fn words_of_forgotten_records_are_gone_at_once() {
        let mut store = store(pottery());
        store.forget("k2");
        store.supersede("k0", Record::new("new", "The kiln is repaired.")).unwrap();
        let themes = themes(&store);
        assert_eq!((themes[0].size, themes[0].record_ids.len()), (2, 2));
        assert!(!themes[0].summary.contains("celadon") && !themes[0].summary.contains("broke"));
        store.forget("k1");
        assert_eq!(store.themes(&ThemesRequest::default()).unwrap(), []);
    }

    #[test]
    fn what_was_learned_belongs_to_a_theme_once_it_is_folded_in() {
        let mut store = store(Vec::new());
        store.remember(pottery()).unwrap();
        assert_eq!(themes(&store), []);
        let folded = Segment::from_bytes(store.compact().unwrap()).unwrap();
        assert_eq!(themes(&Store::new(folded, None).unwrap())[0].size, 4);
    }

    #[test]
    fn themes_are_seen_by_those_who_see_their_records() {
        let ana = Scope::global().with("user", "ana");
        let hers = |record| Record { scope: ana.clone(), expires: Some(Timestamp(9)), ..record };
        let store = store(pottery().into_iter().map(hers).collect());
        assert_eq!(themes(&store), []);
        let mut request = ThemesRequest { scope: ana.clone(), ..ThemesRequest::default() };
        assert_eq!(store.themes(&request).unwrap()[0].scope, ana);
        request.now = Some(Timestamp(9));
        assert_eq!(store.themes(&request).unwrap(), []);
        request.limit = 0;
        assert_eq!(store.themes(&request).unwrap_err().code(), ErrorCode::InvalidRequest);
    }
}
