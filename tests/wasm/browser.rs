//! `wasm-pack test --headless --chrome -- --no-default-features`

#![cfg(target_arch = "wasm32")]

wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);

mod driver;
mod shared;
