//! The snapshot: one immutable file that holds records, catalog and indexes, and is read in place.

mod build;
mod codec;
mod config;
mod link;
mod segment;
mod wire;

pub use build::SnapshotBuilder;
pub use config::{IndexConfig, ShapeConfig};
pub use segment::{Facts, Segment};
pub use wire::FORMAT_VERSION;
