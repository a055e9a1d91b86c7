//! `wasm-pack test --node -- --no-default-features`

#![cfg(target_arch = "wasm32")]

mod driver;
mod shared;
