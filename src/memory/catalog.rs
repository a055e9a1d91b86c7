use serde::{Deserialize, Serialize};

use super::Scope;

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
