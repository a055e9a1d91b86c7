//! What a visitor downloads: the module and its glue, as they travel.

use crate::setup::{self, Node};
use crate::{Result, paths, process};

const GZIP_LIMIT: u64 = 380_000;
const BROTLI_LIMIT: u64 = 301_000;
const FILES: [&str; 2] = ["foreword_bg.wasm", "foreword.js"];

#[derive(Clone, Copy)]
struct Size {
    raw: u64,
    gzip: u64,
    brotli: u64,
}

pub fn print() -> Result<()> {
    measure().map(|_| ())
}

/// Fails when the sum is over a limit.
pub fn check() -> Result<()> {
    let sum = measure()?;
    println!("limits: {GZIP_LIMIT} B gzip, {BROTLI_LIMIT} B brotli");
    if sum.gzip > GZIP_LIMIT || sum.brotli > BROTLI_LIMIT {
        return Err("the module has grown over its limit".into());
    }
    Ok(())
}

/// Prints a line for each file and the sum.
fn measure() -> Result<Size> {
    println!("{:<18} {:>9} {:>9} {:>9}", "bytes", "raw", "gzip", "brotli");
    let mut sum = Size { raw: 0, gzip: 0, brotli: 0 };
    for name in FILES {
        let size = size_of(name)?;
        line(name, size);
        sum = Size { raw: sum.raw + size.raw, gzip: sum.gzip + size.gzip, brotli: sum.brotli + size.brotli };
    }
    line("together", sum);
    Ok(sum)
}

fn line(name: &str, size: Size) {
    println!("{name:<18} {:>9} {:>9} {:>9}", size.raw, size.gzip, size.brotli);
}

fn size_of(name: &str) -> Result<Size> {
    const SCRIPT: &str = "
        const zlib = require('node:zlib');
        const bytes = require('node:fs').readFileSync(process.argv[1]);
        console.log(bytes.length, zlib.gzipSync(bytes, { level: 9 }).length, zlib.brotliCompressSync(bytes).length);";
    let mut node = setup::node(Node::OnPath);
    let text = process::capture(node.args(["--eval", SCRIPT]).arg(paths::wasm_out().join(name)))?;
    let mut numbers = text.split_whitespace().filter_map(|word| word.parse().ok());
    match (numbers.next(), numbers.next(), numbers.next()) {
        (Some(raw), Some(gzip), Some(brotli)) => Ok(Size { raw, gzip, brotli }),
        _ => Err(format!("cannot measure {name}: node printed {text:?}")),
    }
}
