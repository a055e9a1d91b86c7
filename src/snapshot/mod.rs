//! The snapshot: one immutable file that holds records, catalog and indexes, and is read in place.

mod build;
mod codec;
mod config;
mod facts;
mod link;
mod segment;
mod wire;

pub use build::{SnapshotBuilder, reads_like_instruction};
pub use config::{IndexConfig, ShapeConfig};
pub use facts::Facts;
pub use segment::Segment;
pub use wire::FORMAT_VERSION;
