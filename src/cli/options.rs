//! Options that several commands share.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Args, ValueEnum};
use foreword::embed::{HashEmbedder, StaticTable};
use foreword::engine::{Config, Engine};
use foreword::error::{Error, ErrorCode};
use foreword::memory::{Scope, Timestamp};
use foreword::retrieve::LocalModel;
use foreword::snapshot::{IndexConfig, Segment};
use serde_json::{Value, json};

use super::failure::Failure;

/// Which model makes the vectors.
#[derive(Args)]
pub struct ModelArgs {
    /// File of token vectors (such as `pkg/static/foreword-static-v1.bin`); implies `--model static`.
    #[arg(long = "static", value_name = "FILE")]
    table: Option<PathBuf>,
    /// The embedding model; `hash` needs no file, `none` leaves vectors out. Default: `static` with `--static`, else `hash`.
    #[arg(long)]
    model: Option<ModelName>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ModelName {
    Hash,
    Static,
    None,
}

impl ModelArgs {
    /// The model that was asked for, if any.
    pub fn load(&self) -> Result<Option<LocalModel>, Failure> {
        match (self.model, &self.table) {
            (None | Some(ModelName::Static), Some(path)) => Ok(Some(static_table(path)?)),
            (None | Some(ModelName::Hash), None) => Ok(Some(Arc::new(HashEmbedder))),
            (Some(ModelName::None), None) => Ok(None),
            (Some(ModelName::Static), None) => {
                Err(Failure::Usage("`--model static` needs its file: `--static FILE`".into()))
            }
            (Some(ModelName::Hash | ModelName::None), Some(_)) => {
                Err(Failure::Usage("`--static` goes with `--model static` only".into()))
            }
        }
    }
}

fn static_table(path: &Path) -> Result<LocalModel, Failure> {
    let table = StaticTable::from_bytes(read(path)?)
        .map_err(|error| Error::new(ErrorCode::StaticTable, format!("{}: {error}", path.display())))?;
    Ok(Arc::new(table))
}

/// Settings of the engine and the index.
#[derive(Args)]
pub struct ConfigArgs {
    /// JSON file with the settings that differ from their defaults; its key `index` holds those of the index.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl ConfigArgs {
    /// The defaults with the file laid over them.
    pub fn load(&self) -> Result<(Config, IndexConfig), Failure> {
        self.load_with(&[])
    }

    /// The same with these settings laid over both.
    pub fn load_with(&self, settings: &[Setting]) -> Result<(Config, IndexConfig), Failure> {
        let name = self.config.as_ref().map_or_else(|| "settings".into(), |path| path.display().to_string());
        let invalid = |error: serde_json::Error| Error::new(ErrorCode::InvalidConfig, format!("{name}: {error}"));
        let mut given = match &self.config {
            Some(path) => serde_json::from_slice(&read(path)?).map_err(invalid)?,
            None => Value::Object(Default::default()),
        };
        for setting in settings {
            let nested = setting.key.rsplit('.').fold(setting.value.clone(), |value, key| json!({ key: value }));
            lay(&mut given, nested);
        }
        let index = given.as_object_mut().and_then(|keys| keys.remove("index")).unwrap_or(Value::Null);
        let config: Config =
            serde_json::from_value(over(Config::default(), given).map_err(invalid)?).map_err(invalid)?;
        let index = serde_json::from_value(over(IndexConfig::default(), index).map_err(invalid)?).map_err(invalid)?;
        config.check()?;
        Ok((config, index))
    }
}

/// `defaults` with `given` laid over them, key by key.
fn over(defaults: impl serde::Serialize, given: Value) -> Result<Value, serde_json::Error> {
    let mut value = serde_json::to_value(defaults)?;
    if !given.is_null() {
        lay(&mut value, given);
    }
    Ok(value)
}

fn lay(under: &mut Value, over: Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (key, value) in over {
                lay(under.entry(key).or_insert(Value::Null), value);
            }
        }
        (under, over) => *under = over,
    }
}

/// One setting by its path in the configuration, such as `search.groupWeight`, and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    pub key: String,
    pub value: Value,
}

/// A snapshot and what is needed to ask it.
#[derive(Args)]
pub struct SnapshotArgs {
    /// The snapshot.
    #[arg(value_name = "FILE")]
    path: PathBuf,
    /// File of token vectors, where the snapshot was built with one.
    #[arg(long = "static", value_name = "FILE")]
    table: Option<PathBuf>,
    #[command(flatten)]
    config: ConfigArgs,
}

impl SnapshotArgs {
    /// The engine, after `adjust` has had its way with the settings, and a remark if its vectors cannot be used.
    pub fn load(&self, adjust: impl FnOnce(&mut Config)) -> Result<(Engine, Option<String>), Failure> {
        let (mut config, _) = self.config.load()?;
        adjust(&mut config);
        let bytes = read(&self.path)?;
        let made_by = Segment::from_bytes(bytes.clone())?.model().to_string();
        let model: Option<LocalModel> = match &self.table {
            Some(path) => {
                let table = static_table(path)?;
                if table.id() != made_by {
                    let message = format!(
                        "{} holds vectors by `{made_by}`, {} is `{}`: build the snapshot with it, or leave `--static` out",
                        self.path.display(),
                        path.display(),
                        table.id()
                    );
                    return Err(Error::new(ErrorCode::ModelMismatch, message).into());
                }
                Some(table)
            }
            None => Some(Arc::new(HashEmbedder)),
        };
        let usable = made_by.is_empty() || model.as_ref().is_some_and(|model| model.id() == made_by);
        let remark = (!usable).then(|| {
            format!("its vectors are by `{made_by}`, which is not given (`--static FILE`): only words are compared")
        });
        Ok((Engine::load(bytes, config, model)?, remark))
    }
}

/// Who looks, and when.
#[derive(Args)]
pub struct ViewerArgs {
    /// In whose name, dimension by dimension; without it only what everyone may see is found.
    #[arg(long, value_name = "NAME=VALUE", value_parser = dimension)]
    scope: Vec<(String, String)>,
    /// The present, in ISO 8601. Default: this machine's clock.
    #[arg(long, value_name = "TIME", value_parser = time)]
    now: Option<Timestamp>,
}

impl ViewerArgs {
    /// In whose name.
    pub fn scope(&self) -> Scope {
        self.scope.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    /// The present; `None` only where the clock stands before 1970.
    pub fn now(&self) -> Option<Timestamp> {
        let clock = || {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
            i64::try_from(since.as_millis()).ok().map(Timestamp)
        };
        self.now.or_else(clock)
    }
}

fn dimension(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => Ok((name.to_string(), value.to_string())),
        _ => Err("expected a dimension and its value, such as `user=ana`".into()),
    }
}

/// Reads a time as an argument.
pub fn time(text: &str) -> Result<Timestamp, String> {
    let expected = "expected an ISO 8601 date or time, such as `2026-03-01` or `2026-03-01T08:30Z`";
    Timestamp::parse(text).ok_or_else(|| expected.into())
}

/// The bytes of a file.
pub fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| Failure::file(path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_config_changes_what_it_names_and_nothing_else() {
        let given = serde_json::json!({ "section": { "title": 2.5 } });
        let value = over(IndexConfig::default(), given).expect("lays over");
        let index: IndexConfig = serde_json::from_value(value).expect("reads back");
        let mut expected = IndexConfig::default();
        expected.section.title = 2.5;
        assert_eq!(index, expected);
        let value = over(Config::default(), Value::Null).expect("lays over");
        assert_eq!(serde_json::from_value::<Config>(value).expect("reads back"), Config::default());
    }
}
