//! What is remembered: records, topics, scopes, times.

mod catalog;
mod record;
mod scope;
mod time;

pub use catalog::{Catalog, KnownEntity, ProviderCard, Topic};
pub use record::{Record, Shape, Source, Status};
pub use scope::Scope;
pub use time::{DAY_MS, Timestamp};
