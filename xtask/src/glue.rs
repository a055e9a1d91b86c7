//! The glue as a function: each call of it gives the glue of one more instance.
//!
//! wasm-bindgen writes a file that keeps one instance in its own variables. The package has to begin anew after a trap, and a builder's memory
//! has to be given back when the snapshot is built: both take a second instance. What the file does stays as it is; it only gets a function around it.

use crate::Result;

/// From here on the file loads the module; the package does that itself.
const LOADER: &str = "\nasync function __wbg_load(";

const HEAD: &str = "// Made by `cargo xtask build` from what wasm-bindgen wrote.\n\nexport function glue() {\n";

/// # Errors
///
/// If another version of wasm-bindgen writes something else than is known here.
pub fn wrap(glue: &str) -> Result<String> {
    let body = glue.split_once(LOADER).ok_or("wasm-bindgen's glue has no loader any more: mend xtask/src/glue.rs")?.0;
    let mut names = vec!["imports: __wbg_get_imports()".to_string(), "begin: __wbg_finalize_init".to_string()];
    let mut out = String::from(HEAD);
    let mut in_comment = false;
    for line in body.lines() {
        // The comments are those of the Rust, for which no one looks here.
        in_comment |= line.trim_start().starts_with("/*");
        if in_comment || line.is_empty() {
            in_comment &= !line.trim_end().ends_with("*/");
            continue;
        }
        let exported = line.strip_prefix("export ");
        if let Some(rest) = exported {
            let name =
                rest.split([' ', '(']).nth(1).filter(|_| rest.starts_with("class ") || rest.starts_with("function "));
            names.push(
                name.ok_or_else(|| format!("the glue exports something new, `{line}`: mend xtask/src/glue.rs"))?
                    .to_string(),
            );
        }
        out.push_str(exported.unwrap_or(line));
        out.push('\n');
    }
    for needed in ["function __wbg_get_imports()", "function __wbg_finalize_init(instance, module)"] {
        if !out.contains(needed) {
            return Err(format!("wasm-bindgen's glue has no `{needed}` any more: mend xtask/src/glue.rs"));
        }
    }
    out.push_str(&format!("return {{ {} }};\n}}\n", names.join(", ")));
    Ok(out)
}

/// The module as JavaScript, for where no file can lie beside the program.
pub fn inline(module: &[u8]) -> String {
    format!("// Made by `cargo xtask build`: foreword_bg.wasm.\nexport const base64 = '{}';\n", base64(module))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits = three.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for at in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * at)) as usize & 63];
            out.push(if at <= three.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

#[test]
fn base64_is_padded() {
    assert_eq!(
        ["", "f", "fo", "foo", "foob"].map(|text| base64(text.as_bytes())),
        ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]
    );
    assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
}

#[test]
fn exports_become_what_the_function_returns() {
    let glue = "/* @ts-self-types=\"./x.d.ts\" */\n\n/**\n * Doc.\n */\nexport class A {\n    /** x */\n    b() {}\n}\nexport function c(x) {}\n\
                function __wbg_get_imports() {}\nfunction __wbg_finalize_init(instance, module) {}\n\nasync function __wbg_load(m) {}\nexport { d };\n";
    let wrapped = wrap(glue).unwrap();
    assert!(wrapped.contains("\nclass A {\n    b() {}\n}\nfunction c(x) {}\n"), "{wrapped}");
    assert!(
        wrapped.ends_with("return { imports: __wbg_get_imports(), begin: __wbg_finalize_init, A, c };\n}\n"),
        "{wrapped}"
    );
    assert!(wrap("export const x = 1;\n\nasync function __wbg_load(m) {}").is_err());
    assert!(wrap("").is_err());
}
