//! Finding candidates: the prompt as terms, who may see what, and the search of one segment.

mod browse;
mod dates;
mod forms;
mod linked;
mod learned;
mod mask;
mod provider;
mod query;
mod search;
mod store;
mod themes;
#[cfg(test)]
mod untrusted;

pub use browse::{BrowseItem, BrowseOrder, BrowseRequest, Direction, Page};
pub use dates::Asked;
pub use mask::{Mask, MaskCache, View};
pub use provider::{ProviderResult, Rejection};
pub use query::{Query, QueryTerm};
pub use search::{Found, FusionMethod, Hit, Part, Scratch, SearchConfig, Side, TermStatistics, names_in, search};
pub use store::{BASE, LocalModel, OVERLAY, Store};
pub use themes::{Theme, ThemesRequest};
