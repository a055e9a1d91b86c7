//! foreword: the memory layer that stands before a prompt.
//!
//! Before a prompt goes to a model, foreword decides whether long-term memory is needed at all, finds the few memories that matter, and
//! writes a bounded, attributed, injection-safe block of text to stand before the prompt.
//!
//! ```
//! use foreword::engine::{Config, Engine, Request};
//! use foreword::memory::Record;
//! use foreword::write::Nonce;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut engine = Engine::empty(Config::default(), None)?;
//! engine.set_nonce(Nonce::new("7q3m2k9d0wz5f")?); // drawn at random, once a session
//! engine.remember(vec![Record::new("seat", "On trains I like a window seat in the quiet coach.")])?;
//!
//! let ask = |prompt: &str| Request { prompt: prompt.to_string(), ..Request::default() };
//! let yes = engine.run(engine.recall(ask("Which seat do I like on trains?"))?);
//! assert!(yes.block.recall.contains("window seat"));
//!
//! let no = engine.run(engine.recall(ask("What is the capital of Australia?"))?);
//! assert!(no.block.recall.is_empty());
//! assert!(no.plan.reason.contains("no memory is needed"));
//! # Ok(())
//! # }
//! ```
//!
//! # Should I use this?
//!
//! Yes, if an application should remember where it runs. The engine does no I/O and starts no thread: whoever drives it makes the calls it
//! asks for ([`engine::Recall`]). For a shared database with many writers, keep the database and ask it as a provider.
//!
//! # Untrusted input
//!
//! Snapshots, notes, records, provider answers and prompts may be hostile. No function of this crate panics on any of them; errors are
//! [`error::Error`] with a stable code. Nothing is allocated beyond what the length of an input justifies. Stored text cannot end the block or pass
//! for another record's label ([`write`](mod@write)); what a model makes of it is another matter.
//!
//! # What it costs
//!
//! A snapshot is one copy in memory, read in place ([`snapshot::Segment`]); a record is decoded when it is shown. A search visits the
//! posting lists of the prompt's words and one quantized vector a record.
//!
//! Functions that loop over records, and the larger steps of a recall, are kept apart with `#[inline(never)]`: a WebAssembly engine optimizes a hot
//! function as a whole, and one into which the compiler had put all others took V8 50 ms and 10 MB before a loop in it ran at full speed.
//!
//! # The map
//!
//! The floors, lowest first; imports run downward only.

pub mod error;
pub mod math;
pub mod memory;
pub mod text;
pub mod embed;
pub mod index;
pub mod rank;
pub mod write;
pub mod import;
pub mod snapshot;
pub mod plan;
pub mod retrieve;
pub mod engine;
#[cfg(target_arch = "wasm32")]
pub mod wasm;

/// The README's Rust is compiled and run with the other examples.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
