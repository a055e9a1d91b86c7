//! Whole folders, read in sorted order.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::{Format, Import, Importer, Progress, detect};

/// How deep folders are followed.
pub const MAX_DEPTH: usize = 64;

/// Reads a folder, or a single file, and everything in it that a reader is for.
///
/// Files are read in the order of their paths, so that the result does not depend on the machine. Names that begin with a
/// dot are passed over in silence. Reported, and left out: files that no reader is for, symbolic links, folders deeper than
/// [`MAX_DEPTH`], an empty folder, and whatever cannot be opened. `progress` counts the bytes of the whole folder.
///
/// # Errors
///
/// If `path` itself cannot be looked at.
pub fn read(path: &Path, progress: &mut dyn FnMut(Progress)) -> io::Result<Import> {
    let mut importer = Importer::new();
    add(&mut importer, path, progress)?;
    Ok(importer.finish())
}

/// Like [`read`], into an importer that may have read other things, and may read more.
///
/// # Errors
///
/// If `path` itself cannot be looked at.
pub fn add(importer: &mut Importer, path: &Path, progress: &mut dyn FnMut(Progress)) -> io::Result<()> {
    let mut found = Vec::new();
    if fs::metadata(path)?.is_dir() {
        fs::read_dir(path)?;
        walk(importer, path, "", 0, &mut found);
        if found.is_empty() {
            importer.skipped(&path.display().to_string(), None, "holds no file to import");
        }
    } else {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        found.push(Entry { name, path: path.to_path_buf(), bytes: fs::metadata(path)?.len() });
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    let total: u64 = found.iter().map(|entry| entry.bytes).sum();
    let mut before = 0;
    for entry in found {
        let mut within = |at: Progress| {
            progress(Progress {
                bytes_done: before + at.bytes_done.min(entry.bytes),
                bytes_total: Some(total),
                records: at.records,
            });
        };
        if let Err(error) = file(importer, &entry, &mut within) {
            importer.skipped(&entry.name, None, format!("cannot be read: {error}"));
        }
        before += entry.bytes;
        progress(Progress { bytes_done: before, bytes_total: Some(total), records: importer.records() });
    }
    Ok(())
}

struct Entry {
    /// Relative to the folder, with `/`.
    name: String,
    path: PathBuf,
    bytes: u64,
}

fn walk(importer: &mut Importer, folder: &Path, prefix: &str, depth: usize, found: &mut Vec<Entry>) {
    let here = if prefix.is_empty() { "." } else { prefix.trim_end_matches('/') };
    if depth > MAX_DEPTH {
        return importer.skipped(here, None, format!("is more than {MAX_DEPTH} folders deep"));
    }
    let mut entries = Vec::new();
    match fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
        Ok(listed) => entries.extend(listed),
        Err(error) => return importer.skipped(here, None, format!("cannot be listed: {error}")),
    }
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let raw = entry.file_name();
        let name = format!("{prefix}{}", raw.to_string_lossy());
        if raw.to_string_lossy().starts_with('.') {
            continue;
        }
        match entry.file_type() {
            Ok(kind) if kind.is_symlink() => {
                importer.skipped(&name, None, "is a symbolic link: not followed");
            }
            Ok(kind) if kind.is_dir() => {
                walk(importer, &entry.path(), &format!("{name}/"), depth + 1, found);
            }
            Ok(kind) if kind.is_file() => {
                let bytes = entry.metadata().map_or(0, |metadata| metadata.len());
                found.push(Entry { name, path: entry.path(), bytes });
            }
            Ok(_) => importer.skipped(&name, None, "is neither a file nor a folder"),
            Err(error) => importer.skipped(&name, None, format!("cannot be looked at: {error}")),
        }
    }
}

fn file(importer: &mut Importer, entry: &Entry, progress: &mut dyn FnMut(Progress)) -> io::Result<()> {
    let mut reader = BufReader::with_capacity(64 * 1024, File::open(&entry.path)?);
    let format = detect(&entry.name, reader.fill_buf()?);
    let total = Some(entry.bytes);
    match format {
        Some(Format::Markdown) => {
            let most = Importer::MAX_NOTE_BYTES as u64 + 1;
            let mut bytes = Vec::new();
            reader.take(most).read_to_end(&mut bytes)?;
            importer.markdown_bytes(&entry.name, &bytes);
        }
        Some(Format::Records) => importer.jsonl(&entry.name, reader, total, progress),
        Some(Format::McpGraph) => importer.mcp_graph(&entry.name, reader, total, progress),
        Some(Format::ChatGpt) => importer.chatgpt(&entry.name, reader, total, progress),
        None => importer.skipped(
            &entry.name,
            None,
            "no reader is for this kind of file: expected .md, .jsonl, or an export of ChatGPT or of the MCP memory server",
        ),
    }
    Ok(())
}
