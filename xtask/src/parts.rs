//! What each part of the module costs: the bytes of its functions by room and by library, from a build that keeps their names.

use std::collections::BTreeMap;
use std::path::Path;

use crate::{Result, paths};

/// Whose function it is: a room of ours, or a library.
type Costs = BTreeMap<String, (usize, usize)>;

/// Prints the table for a module whose functions have names.
pub fn print(module: &Path) -> Result<()> {
    let bytes = paths::read(module)?;
    let module = Module::read(&bytes).ok_or_else(|| format!("{} is no module that is known here", module.display()))?;
    let mut costs = Costs::new();
    for (at, size) in module.functions.iter().enumerate() {
        let name = module.names.get(&(module.imported + at)).map_or("", |name| name);
        let cost = costs.entry(owner(name)).or_default();
        *cost = (cost.0 + size, cost.1 + 1);
    }
    let mut costs: Vec<_> = costs.into_iter().collect();
    costs.sort_by_key(|(name, (size, _))| (usize::MAX - size, name.clone()));
    println!("\n{:<24} {:>9} {:>10}", "functions of", "bytes", "functions");
    for (name, (size, count)) in costs {
        println!("{name:<24} {size:>9} {count:>10}");
    }
    println!("\n{:<24} {:>9}", "section", "bytes");
    for (name, size) in module.sections {
        println!("{name:<24} {size:>9}");
    }
    Ok(())
}

/// The crate of a mangled name, and the room if the crate is ours. Generic code counts for whom it was made: `Vec<Record>` is ours, not the library's,
/// unless no name of ours is in it.
fn owner(mangled: &str) -> String {
    let mut first = None;
    let mut at = 0;
    while let Some(found) = mangled.get(at..).and_then(|rest| rest.find("Cs")) {
        // A crate: `Cs`, a number in base 62, `_`, then its name. Of ours the next name is the room.
        at += found + 2;
        let Some((_, rest)) = mangled[at..].split_once('_') else { break };
        let Some((name, rest)) = identifier(rest) else { continue };
        // At the end of a name it is the crate for which a library's function was made.
        if let Some((room, _)) = identifier(rest).filter(|_| name == "foreword") {
            return format!("foreword {room}");
        }
        first.get_or_insert(name);
    }
    match first {
        Some(name) => name.to_string(),
        None if mangled.starts_with("wasm") => "foreword wasm".to_string(),
        None => "other".to_string(),
    }
}

/// `5field` or `5_field`, and what follows.
fn identifier(text: &str) -> Option<(&str, &str)> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let length: usize = text[..digits].parse().ok()?;
    let rest = text[digits..].strip_prefix('_').unwrap_or(&text[digits..]);
    Some((rest.get(..length)?, &rest[length..]))
}

#[derive(Default)]
struct Module<'a> {
    sections: Vec<(String, usize)>,
    /// How many functions come from the host; those are counted first.
    imported: usize,
    functions: Vec<usize>,
    names: BTreeMap<usize, &'a str>,
}

impl<'a> Module<'a> {
    fn read(bytes: &'a [u8]) -> Option<Module<'a>> {
        let mut module = Module::default();
        let mut rest = Reader(bytes.strip_prefix(b"\0asm\x01\0\0\0")?);
        while !rest.0.is_empty() {
            let id = rest.byte()?;
            let mut section = Reader(rest.take()?);
            let size = section.0.len();
            let name = match id {
                0 => section.text()?,
                2 => "imports",
                7 => "exports",
                9 => "elements",
                10 => "code",
                11 => "data",
                _ => "types, tables, globals",
            };
            match (id, name) {
                (0, "name") => module.name(section)?,
                (2, _) => module.import(section)?,
                (10, _) => {
                    for _ in 0..section.number()? {
                        module.functions.push(section.take()?.len());
                    }
                }
                _ => (),
            }
            match module.sections.iter_mut().find(|known| known.0 == name) {
                Some(known) => known.1 += size,
                None => module.sections.push((name.to_string(), size)),
            }
        }
        Some(module)
    }

    fn import(&mut self, mut section: Reader) -> Option<()> {
        for _ in 0..section.number()? {
            // The names of the module and of what it gives.
            section.take()?;
            section.take()?;
            match section.byte()? {
                0 => {
                    self.imported += 1;
                    section.number()?;
                }
                // wasm-bindgen's modules bring their own memory, tables and globals.
                _ => return None,
            }
        }
        Some(())
    }

    fn name(&mut self, mut section: Reader<'a>) -> Option<()> {
        while !section.0.is_empty() {
            let of_functions = section.byte()? == 1;
            let mut names = Reader(section.take()?);
            if of_functions {
                for _ in 0..names.number()? {
                    self.names.insert(names.number()?, names.text()?);
                }
            }
        }
        Some(())
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
    }

    /// LEB128, as every number here.
    fn number(&mut self) -> Option<usize> {
        let mut number = 0;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            number |= usize::from(byte & 127) << shift;
            if byte < 128 {
                return Some(number);
            }
        }
        None
    }

    /// A length, and so many bytes.
    fn take(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.take()?).ok()
    }
}

#[test]
fn names_tell_whose_a_function_is() {
    assert_eq!(owner("_RNvNtNtCsajibx1mlom0_8foreword8retrieve6search6search"), "foreword retrieve");
    assert_eq!(
        owner("_RINvNtCseuwgQ6fW7kz_4core3ptr13drop_in_placeNtNtCsajibx1mlom0_8foreword6memory6RecordE"),
        "foreword memory"
    );
    assert_eq!(owner("_RNvMs2_NtNtCseuwgQ6fW7kz_4core3str4_strip"), "core");
    assert_eq!(owner("wasmengine_browse_83ef791e27b2d1d6"), "foreword wasm");
    assert_eq!(owner("__externref_drop_slice"), "other");
}

#[test]
fn a_module_is_read_by_its_sections() {
    let module = [
        &b"\0asm\x01\0\0\0"[..],
        &[2, 7, 1, 1, b'm', 1, b'f', 0, 0],
        &[10, 4, 1, 2, 0, 11],
        &[0, 11, 4, b'n', b'a', b'm', b'e', 1, 4, 1, 1, 1, b'g'],
    ]
    .concat();
    assert!(Module::read(&module[..module.len() - 1]).is_none());
    let module = Module::read(&module).unwrap();
    assert_eq!((module.imported, &module.functions[..], module.names[&1]), (1, &[2][..], "g"));
}
