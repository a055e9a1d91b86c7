use serde::{Deserialize, Serialize};

use super::Scope;
use crate::error::{Error, ErrorCode};

/// The bounded list of topics and providers that is always visible to the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Catalog {
    /// What is remembered, in order of importance.
    pub topics: Vec<Topic>,
    /// Who can be asked.
    pub providers: Vec<ProviderCard>,
    /// Names by which the user calls people and things.
    pub entities: Vec<KnownEntity>,
}

impl Catalog {
    /// Adds a topic, or replaces the one of its id and scope; its id is its title if it has none.
    ///
    /// # Errors
    ///
    /// `INVALID_RECORD` if it has no title.
    pub fn add_topic(&mut self, mut topic: Topic) -> Result<(), Error> {
        if topic.title.trim().is_empty() {
            return Err(Error::new(ErrorCode::InvalidRecord, "a topic has no title: give it one"));
        }
        if topic.id.is_empty() {
            topic.id.clone_from(&topic.title);
        }
        match self.topics.iter_mut().find(|known| known.id == topic.id && known.scope == topic.scope) {
            Some(known) => *known = topic,
            None => self.topics.push(topic),
        }
        Ok(())
    }
}

/// A catalog entry.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Topic {
    /// Unique in its catalog; the title if none is given.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// What else it is called.
    pub aliases: Vec<String>,
    /// Labels.
    pub tags: Vec<String>,
    /// One or two sentences.
    pub summary: String,
    /// Work that is not finished.
    pub unresolved: bool,
    /// Who may see it.
    pub scope: Scope,
    /// Ids of the providers that hold it; none means the built-in store.
    pub providers: Vec<String>,
}

/// What the catalog says of a provider.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProviderCard {
    /// Unique among providers.
    pub id: String,
    /// What it holds, in a sentence; stage 1 may route by it.
    pub description: String,
    /// Who may see it and be answered by it.
    pub scope: Scope,
}

/// A person or thing with the names that the user has for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct KnownEntity {
    /// The form used as `subject` in records.
    pub name: String,
    /// Other names, such as `my wife`.
    pub aliases: Vec<String>,
    /// Who may see it.
    pub scope: Scope,
}
