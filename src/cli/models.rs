//! `fleetmem models`: the catalogue, and what chosen models hold at given context lengths.
//! Arguments and loading are here; `table` and `export` print.

mod export;
mod numbers;
mod table;

use std::io::Write;
use std::path::Path;

use clap::Args;
use serde_json::{Value, json};

use numbers::{decimal, giga, thousands};

use super::Format;
use crate::memory::parse::MAX_FILE_BYTES;
use crate::memory::{
    self, Footprint, Growth, MAX_SEQUENCE_TOKENS, ModelError, ModelSpec, Overrides, Resolved, Role,
};

/// Arguments of `models`.
#[derive(Clone, Debug, Args)]
pub struct ModelsArgs {
    /// Models to compare, the first being the baseline; none: list the catalogue. A catalogue
    /// name or a model file (*.yaml), with changes if wanted: kimi-k3:kv=fp8,state=bf16
    /// (kv, indexer, state, conv, tail, checkpoint, as)
    #[arg(value_name = "MODEL", value_parser = Reference::parse)]
    models: Vec<Reference>,
    /// Context lengths, e.g. 128K,131072,1M,1Mi (K and M: 1e3 and 1e6; Ki and Mi: 2^10 and 2^20)
    /// [default: 128K,1M]
    #[arg(long, value_name = "LENGTHS", value_delimiter = ',', value_parser = Length::parse)]
    tokens: Vec<Length>,
    /// How the result is printed; csv and json have exact bytes
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Say where every number of the models is from (json always does)
    #[arg(long)]
    sources: bool,
}

/// A model on the command line: `NAME` or `FILE`, then `:key=value,...`.
#[derive(Clone, Debug, PartialEq)]
struct Reference {
    text: String,
    name: String,
    label: Option<String>,
    overrides: Overrides,
}

impl Reference {
    fn parse(text: &str) -> Result<Reference, String> {
        // A path may have a colon; changes always have an equals sign.
        let (name, changes) = match text.rsplit_once(':') {
            Some((name, changes)) if changes.contains('=') => (name, changes),
            _ => (text, ""),
        };
        let mut overrides = Overrides::default();
        let mut label = None;
        for change in changes.split(',').filter(|c| !c.is_empty()) {
            let (key, value) = change
                .split_once('=')
                .ok_or_else(|| format!("`{change}` is not of the form key=value"))?;
            match (key, Role::ALL.into_iter().find(|r| r.field() == key)) {
                (_, Some(role)) => overrides.set(role, value.to_owned()),
                ("as", _) => label = Some(value.to_owned()),
                ("checkpoint", _) => overrides.checkpoint = Some(value.parse()?),
                _ => {
                    return Err(format!(
                        "`{key}` cannot be changed; what can: kv, indexer, state, conv, tail, checkpoint, as"
                    ));
                }
            }
        }
        Ok(Reference {
            text: text.to_owned(),
            name: name.to_owned(),
            label,
            overrides,
        })
    }

    fn is_file(&self) -> bool {
        let lower = self.name.to_ascii_lowercase();
        lower.ends_with(".yaml") || lower.ends_with(".yml") || self.name.contains(['/', '\\'])
    }

    fn load(&self) -> Result<Shown, ModelError> {
        let spec = if self.is_file() {
            read(&self.name)?
        } else {
            memory::lookup(&self.name)?.clone()
        };
        let resolved = spec.resolve_parts(&self.overrides)?;
        let heading = self.label.clone().unwrap_or_else(|| spec.name.clone());
        let label = if self.is_file() || self.label.is_some() {
            heading.clone()
        } else {
            self.text.clone()
        };
        Ok(Shown {
            label,
            heading,
            spec,
            resolved,
        })
    }
}

/// Reads a model file of bounded size.
fn read(path: &str) -> Result<ModelSpec, ModelError> {
    use std::io::Read;
    let unreadable = |message: String| ModelError::Unreadable {
        file: path.to_owned(),
        message,
    };
    let file = std::fs::File::open(Path::new(path)).map_err(|e| unreadable(e.to_string()))?;
    let mut bytes = Vec::new();
    // One byte more than allowed is enough to know; the true size is only for the message.
    let size = file.metadata().map_or(0, |m| m.len());
    file.take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| unreadable(e.to_string()))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        let bytes = size.max(MAX_FILE_BYTES + 1);
        return Err(ModelError::TooLarge {
            file: path.to_owned(),
            bytes,
            limit: MAX_FILE_BYTES,
        });
    }
    let text = String::from_utf8(bytes).map_err(|_| unreadable("not UTF-8 text".to_owned()))?;
    memory::parse_model(&text, path)
}

/// A context length, as written and in tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Length {
    text: String,
    tokens: u64,
}

impl Length {
    fn parse(text: &str) -> Result<Length, String> {
        let wrong = || {
            format!(
                "`{text}` is not a context length: whole tokens from 1 to {}, such as 131072, 128K, 1M (1e3, 1e6), \
                 128Ki, 1Mi (2^10, 2^20)",
                thousands(u128::from(MAX_SEQUENCE_TOKENS))
            )
        };
        let text = text.trim();
        let digits = text.len()
            - text
                .trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '_')
                .len();
        let (number, unit) = text.split_at(digits);
        let scale: u128 = match unit {
            "" => 1,
            "K" | "k" => 1_000,
            "M" => 1_000_000,
            "G" => 1_000_000_000,
            "Ki" => 1 << 10,
            "Mi" => 1 << 20,
            "Gi" => 1 << 30,
            _ => return Err(wrong()),
        };
        let number = number.replace('_', "");
        let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
        if whole.is_empty() || fraction.len() > 9 {
            return Err(wrong());
        }
        // At most 12 + 9 digits times 2^30: far inside 128 bits.
        let mantissa: u128 = format!("{whole}{fraction}")
            .parse()
            .ok()
            .filter(|m| *m < 10u128.pow(21))
            .ok_or_else(wrong)?;
        let divisor = 10u128.pow(fraction.len() as u32);
        let scaled = mantissa * scale;
        let tokens = u64::try_from(scaled / divisor).map_err(|_| wrong())?;
        if !scaled.is_multiple_of(divisor) || !(1..=MAX_SEQUENCE_TOKENS).contains(&tokens) {
            return Err(wrong());
        }
        Ok(Length {
            text: text.to_owned(),
            tokens,
        })
    }

    /// `128K = 128,000`; a plain number once.
    fn label(&self) -> String {
        let exact = thousands(u128::from(self.tokens));
        if self.text.bytes().all(|b| b.is_ascii_digit()) {
            exact
        } else {
            format!("{} = {exact}", self.text)
        }
    }
}

/// A model with everything that is printed about it.
struct Shown {
    label: String,
    heading: String,
    spec: ModelSpec,
    resolved: Resolved,
}

impl Shown {
    fn footprint(&self) -> &Footprint {
        &self.resolved.footprint
    }

    fn growth(&self) -> Growth {
        // A resolved model always has one.
        self.footprint().checked_growth().unwrap_or(Growth {
            bytes: 0,
            tokens: 1,
        })
    }

    fn dtype(&self, role: Role) -> &str {
        self.resolved.dtypes.get(&role).map_or("-", String::as_str)
    }

    /// What a snapshot stores, in words; `-` if there is nothing to store.
    fn snapshot_words(&self) -> String {
        let f = self.footprint();
        let has = |role| self.resolved.dtypes.contains_key(&role);
        let words = [
            ("state", has(Role::State)),
            ("conv", has(Role::Conv)),
            ("windows", f.windows.iter().any(|w| w.snapshot_bytes > 0)),
            ("tails", self.resolved.checkpoint.tails && has(Role::Tail)),
        ];
        let words: Vec<&str> = words
            .into_iter()
            .filter(|(_, stored)| *stored)
            .map(|(word, _)| word)
            .collect();
        if words.is_empty() {
            "-".to_owned()
        } else {
            words.join("+")
        }
    }

    /// GB; a rounded figure from the source keeps no more digits than it has.
    fn weights(&self) -> String {
        match &self.spec.weights {
            None => "unknown".to_owned(),
            Some(w) if w.approximate => {
                format!(
                    "~{}",
                    decimal(
                        Growth {
                            bytes: w.bytes.into(),
                            tokens: 1_000_000_000
                        },
                        3
                    )
                )
            }
            Some(w) => giga(w.bytes),
        }
    }
}

/// Runs the command.
///
/// # Errors
/// A [`ModelError`] (bad input), or a failure to write to `out`.
pub fn run(args: &ModelsArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    let listing = args.models.is_empty();
    let models: Vec<Shown> = if listing {
        let all = memory::catalogue().map(Reference::parse);
        all.map(|r| r.map_err(anyhow::Error::msg)?.load().map_err(Into::into))
            .collect::<anyhow::Result<_>>()?
    } else {
        args.models
            .iter()
            .map(Reference::load)
            .collect::<Result<_, _>>()?
    };
    let lengths = match (args.tokens.is_empty(), listing) {
        (false, _) => args.tokens.clone(),
        (true, true) => Vec::new(),
        (true, false) => ["128K", "1M"].into_iter().flat_map(Length::parse).collect(),
    };
    match args.format {
        Format::Json => {
            let rows: Vec<Value> = models
                .iter()
                .map(|m| export::json_row(m, &models[0], &lengths, listing))
                .collect();
            serde_json::to_writer_pretty(
                &mut *out,
                &json!({ "basis": "logical", "layout": "ideal", "models": rows }),
            )?;
            writeln!(out)?;
        }
        Format::Csv => export::write_csv(&models, &lengths, listing, out)?,
        Format::Table => {
            let text = if listing {
                table::list(&models, &lengths)
            } else {
                table::compare(&models, &lengths)
            };
            write!(out, "{text}")?;
            if args.sources {
                write!(out, "{}", table::sources(&models))?;
            }
        }
    }
    Ok(())
}

/// The part of the baseline's bytes that a model saves; `None` if the baseline holds nothing.
fn saving(model: &Shown, baseline: &Shown, tokens: u64) -> Option<f64> {
    let (bytes, base) = (
        model.footprint().bytes(tokens),
        baseline.footprint().bytes(tokens),
    );
    (base > 0).then(|| 1.0 - bytes as f64 / base as f64)
}
