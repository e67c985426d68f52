//! `fleetmem models`: the catalogue, and what chosen models hold at given context lengths.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Table,
    Csv,
    Json,
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
        if scaled % divisor != 0 || !(1..=MAX_SEQUENCE_TOKENS).contains(&tokens) {
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
                .map(|m| json_row(m, &models[0], &lengths, listing))
                .collect();
            serde_json::to_writer_pretty(
                &mut *out,
                &json!({ "basis": "logical", "layout": "ideal", "models": rows }),
            )?;
            writeln!(out)?;
        }
        Format::Csv => write_csv(&models, &lengths, listing, out)?,
        Format::Table => {
            let text = if listing {
                list(&models, &lengths)
            } else {
                compare(&models, &lengths)
            };
            write!(out, "{text}")?;
            if args.sources {
                write!(out, "{}", sources(&models))?;
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

/// Bytes of recurrent and convolution state, windows once full, and tails.
const NOTE: &str = "One sequence, logical bytes: one copy, no rounding to blocks. GB = 1e9 B.\n\
    Constant: recurrent state, full windows and compressor tails.\n";

const WIDTH: usize = 80;

/// The catalogue, a model a line: layers and data types, or bytes at the lengths if there are any.
fn list(models: &[Shown], lengths: &[Length]) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut head = vec!["model".to_owned()];
    if lengths.is_empty() {
        head.extend(["layers", "KV", "state", "B/token", "const MB"].map(str::to_owned));
    } else {
        head.push("B/token".to_owned());
        head.extend(lengths.iter().map(|l| l.text.clone()));
    }
    rows.push(head);
    for m in models {
        let mut row = vec![m.heading.clone()];
        if lengths.is_empty() {
            row.extend([
                m.spec.layer_summary(),
                m.dtype(Role::Kv).to_owned(),
                m.dtype(Role::State).to_owned(),
            ]);
            row.push(decimal(m.growth(), 2));
            row.push(scaled(m.footprint().constant_bytes(), 1_000_000, 1));
        } else {
            row.push(decimal(m.growth(), 2));
            row.extend(lengths.iter().map(|l| giga(m.footprint().bytes(l.tokens))));
        }
        rows.push(row);
    }
    let left = if lengths.is_empty() { 4 } else { 1 };
    let mut text = grid(&rows, left);
    if !lengths.is_empty() {
        text.push_str("\nBytes at the lengths are in GB.");
    }
    let _ = write!(
        text,
        "\n{NOTE}Compare: fleetmem models kimi-k3 all-mla-93 --tokens 128K,1Mi\n"
    );
    text
}

/// Columns two spaces apart; the first `left` are flush left, numbers flush right.
fn grid(rows: &[Vec<String>], left: usize) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |c: usize| rows.iter().map(|r| r[c].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).enumerate();
        let line: Vec<String> = cells
            .map(|(i, (cell, w))| {
                if i < left {
                    format!("{cell:<w$}")
                } else {
                    format!("{cell:>w$}")
                }
            })
            .collect();
        let _ = writeln!(text, "{}", line.join("  ").trim_end());
    }
    text
}

/// One line of the comparison: a label and a cell per model, or a blank line.
struct Line {
    label: String,
    cells: Vec<String>,
}

/// Models side by side, as many as fit into a block of 80 columns.
fn compare(models: &[Shown], lengths: &[Length]) -> String {
    let lines = lines(models, lengths);
    let label_width = lines
        .iter()
        .map(|l| l.label.chars().count())
        .max()
        .unwrap_or(0);
    let width = |m: usize| {
        lines
            .iter()
            .filter_map(|l| l.cells.get(m))
            .map(|c| c.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..models.len()).map(width).collect();
    let mut text = String::new();
    let mut first = 0;
    while first < models.len() {
        let mut used = label_width + 2 + widths[first];
        let mut end = first + 1;
        while end < models.len() && used + 2 + widths[end] <= WIDTH {
            used += 2 + widths[end];
            end += 1;
        }
        if first > 0 {
            text.push('\n');
        }
        for line in &lines {
            let mut row = format!("{:<label_width$}", line.label);
            if !line.cells.is_empty() {
                for m in first..end {
                    let _ = write!(row, "  {:>w$}", line.cells[m], w = widths[m]);
                }
            }
            let _ = writeln!(text, "{}", row.trim_end());
        }
        first = end;
    }
    text.push('\n');
    text.push_str(NOTE);
    text.push_str(&remarks(models, lengths));
    text
}

fn lines(models: &[Shown], lengths: &[Length]) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut add = |label: &str, cells: Vec<String>| {
        lines.push(Line {
            label: label.to_owned(),
            cells,
        })
    };
    let each = |f: &dyn Fn(&Shown) -> String| models.iter().map(f).collect::<Vec<String>>();
    add("", each(&|m| m.heading.clone()));
    if models.len() > 1 {
        let marks = (0..models.len()).map(|i| if i == 0 { "(baseline)" } else { "" });
        add("", marks.map(str::to_owned).collect());
    }
    add("Layers", each(&|m| m.spec.layer_summary()));
    for role in Role::ALL {
        if models.iter().any(|m| m.resolved.dtypes.contains_key(&role)) {
            let name = match role {
                Role::Kv => "KV",
                Role::Indexer => "Indexer",
                Role::State => "State",
                Role::Conv => "Convolution",
                Role::Tail => "Tail",
            };
            add(name, each(&|m| m.dtype(role).to_owned()));
        }
    }
    add("Weights, GB", each(&Shown::weights));
    add("", Vec::new());
    add("B per token", each(&|m| decimal(m.growth(), 4)));
    add(
        "Constant, B",
        each(&|m| thousands(m.footprint().constant_bytes().into())),
    );
    add(
        "Snapshot, B",
        each(&|m| thousands(m.footprint().full_snapshot_bytes().into())),
    );
    let worth = |m: &Shown| {
        m.footprint()
            .snapshot_tokens()
            .map_or("-".to_owned(), thousands)
    };
    add("  worth tokens", each(&worth));
    add("  stores", each(&Shown::snapshot_words));
    add("", Vec::new());
    // Three decimals of a GB say too little about short contexts.
    let small = lengths.iter().any(|l| {
        models
            .iter()
            .any(|m| m.footprint().bytes(l.tokens) < 10_000_000)
    });
    add(if small { "Held, B" } else { "Held, GB" }, Vec::new());
    for l in lengths {
        let held = |m: &Shown| m.footprint().bytes(l.tokens);
        let cell = |m: &Shown| {
            if small {
                thousands(held(m).into())
            } else {
                giga(held(m))
            }
        };
        add(&format!("  {}", l.label()), each(&cell));
    }
    if models.len() > 1 {
        add("Saving", Vec::new());
        for l in lengths {
            let percent = |m: &Shown| match saving(m, &models[0], l.tokens) {
                Some(s) => format!("{:.1}%", 100.0 * s),
                None => "-".to_owned(),
            };
            let mut cells = each(&percent);
            cells[0] = "-".to_owned();
            add(&format!("  {}", l.label()), cells);
        }
    }
    lines
}

/// What a reader of the comparison should know about these models.
fn remarks(models: &[Shown], lengths: &[Length]) -> String {
    let mut text = String::new();
    let longest = lengths.iter().map(|l| l.tokens).max().unwrap_or(0);
    let saves_less = |m: &Shown| {
        lengths
            .iter()
            .any(|l| saving(m, &models[0], l.tokens).is_some_and(|s| s < 0.0))
    };
    if models.iter().any(saves_less) {
        let _ = writeln!(
            text,
            "A saving below 0 means more bytes than {}.",
            models[0].heading
        );
    }
    if models
        .iter()
        .any(|m| m.footprint().tail_bytes > 0 && !m.resolved.checkpoint.tails)
    {
        text.push_str(
            "Snapshots leave out compressor tails; checkpoint=windows+tails stores them too.\n",
        );
    }
    for m in models {
        if let Some(max) = &m.spec.max_context
            && max.tokens.get() < longest
        {
            let max = thousands(max.tokens.get().into());
            let _ = writeln!(
                text,
                "{} is made for {max} tokens; longer contexts are extrapolated.",
                m.heading
            );
        }
    }
    text
}

/// Where the numbers are from, model by model.
fn sources(models: &[Shown]) -> String {
    let mut text = String::new();
    for m in models {
        let _ = writeln!(text, "\n{}: {}", m.heading, m.spec.description);
        for (what, source) in source_items(m) {
            text.push_str(&wrapped(&format!("{what}: {source}")));
        }
    }
    text
}

fn source_items(m: &Shown) -> Vec<(String, String)> {
    let mut items = Vec::new();
    for group in &m.spec.groups {
        let sources = group.sources();
        let source = if sources.is_empty() {
            "no source given".to_owned()
        } else {
            sources.join("; ")
        };
        items.push((
            format!("{} {}", group.layers(), group.kind().name()),
            source,
        ));
    }
    let rest = [
        ("data types", m.spec.dtypes.source.as_ref()),
        (
            "weights",
            m.spec.weights.as_ref().and_then(|w| w.source.as_ref()),
        ),
        (
            "longest context",
            m.spec.max_context.as_ref().and_then(|c| c.source.as_ref()),
        ),
    ];
    items.extend(
        rest.into_iter()
            .filter_map(|(what, s)| s.map(|s| (what.to_owned(), s.clone()))),
    );
    items
}

/// A hanging paragraph within 80 columns.
fn wrapped(paragraph: &str) -> String {
    let mut text = String::new();
    let mut line = "  ".to_owned();
    for word in paragraph.split_whitespace() {
        if line.trim().is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= WIDTH {
            line.push(' ');
            line.push_str(word);
        } else {
            let _ = writeln!(text, "{line}");
            line = format!("    {word}");
        }
    }
    let _ = writeln!(text, "{line}");
    text
}

fn write_csv(
    models: &[Shown],
    lengths: &[Length],
    listing: bool,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    let mut head = vec![
        "model",
        "basis",
        "layers",
        "kv",
        "indexer",
        "state",
        "conv",
        "tail",
        "bytes_per_token",
        "growth_bytes",
        "growth_tokens",
        "constant_bytes",
        "snapshot_bytes",
        "snapshot_tokens",
        "snapshot_stores",
        "weights_bytes",
        "max_context_tokens",
    ];
    if !lengths.is_empty() {
        head.extend(["tokens", "bytes"]);
        if !listing {
            head.push("saving");
        }
    }
    csv.write_record(&head)?;
    for m in models {
        let f = m.footprint();
        let g = m.growth();
        let optional = |n: Option<u128>| n.map_or(String::new(), |n| n.to_string());
        let dash = |s: String| if s == "-" { String::new() } else { s };
        let mut row = vec![
            m.label.clone(),
            "logical".to_owned(),
            m.spec.layer_summary(),
        ];
        row.extend(Role::ALL.map(|r| dash(m.dtype(r).to_owned())));
        row.extend([
            (g.bytes as f64 / g.tokens as f64).to_string(),
            g.bytes.to_string(),
            g.tokens.to_string(),
        ]);
        row.extend([
            f.constant_bytes().to_string(),
            f.full_snapshot_bytes().to_string(),
        ]);
        row.extend([optional(f.snapshot_tokens()), dash(m.snapshot_words())]);
        row.push(optional(m.spec.weights.as_ref().map(|w| w.bytes.into())));
        row.push(optional(
            m.spec.max_context.as_ref().map(|c| c.tokens.get().into()),
        ));
        if lengths.is_empty() {
            csv.write_record(&row)?;
        }
        for l in lengths {
            let mut row = row.clone();
            row.extend([l.tokens.to_string(), f.bytes(l.tokens).to_string()]);
            if !listing {
                row.push(
                    saving(m, &models[0], l.tokens).map_or(String::new(), |s| format!("{s:.6}")),
                );
            }
            csv.write_record(&row)?;
        }
    }
    csv.flush()?;
    Ok(())
}

fn json_row(m: &Shown, baseline: &Shown, lengths: &[Length], listing: bool) -> Value {
    let f = m.footprint();
    let g = m.growth();
    let dtypes: serde_json::Map<String, Value> = m
        .resolved
        .dtypes
        .iter()
        .map(|(role, format)| (role.field().to_owned(), json!(format)))
        .collect();
    let groups: Vec<Value> = m
        .spec
        .groups
        .iter()
        .map(|g| json!({ "kind": g.kind().name(), "layers": g.layers(), "sources": g.sources() }))
        .collect();
    let mut row = json!({
        "model": m.label,
        "name": m.spec.name,
        "description": m.spec.description,
        "layers": m.spec.layer_summary(),
        "dtypes": dtypes,
        "checkpoint": { "windows": m.resolved.checkpoint.windows, "tails": m.resolved.checkpoint.tails },
        "bytes_per_token": g.bytes as f64 / g.tokens as f64,
        "growth": { "bytes": narrow(g.bytes), "tokens": narrow(g.tokens) },
        "constant_bytes": f.constant_bytes(),
        "snapshot_bytes": f.full_snapshot_bytes(),
        "snapshot_tokens": f.snapshot_tokens().map(narrow),
        "weights": m.spec.weights.as_ref().map(|w| {
            json!({ "bytes": w.bytes, "approximate": w.approximate, "source": w.source })
        }),
        "max_context": m.spec.max_context.as_ref().map(|c| json!({ "tokens": c.tokens.get(), "source": c.source })),
        "dtypes_source": m.spec.dtypes.source,
        "groups": groups,
    });
    if !lengths.is_empty() {
        let at = lengths.iter().map(|l| {
            let mut at = json!({ "tokens": l.tokens, "bytes": f.bytes(l.tokens) });
            if !listing {
                at["saving"] = json!(saving(m, baseline, l.tokens));
            }
            at
        });
        row["at"] = at.collect();
    }
    row
}

/// JSON has no 128-bit numbers; a resolved model's growth and worth stay far below the bound.
fn narrow(n: u128) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

/// `1234567` as `1,234,567`.
fn thousands(n: u128) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `bytes / unit` with `decimals` digits after the point, rounded half up in integers.
fn scaled(bytes: u64, unit: u64, decimals: u32) -> String {
    let factor = 10u128.pow(decimals);
    let rounded = (2 * u128::from(bytes) * factor + u128::from(unit)) / (2 * u128::from(unit));
    let width = decimals as usize;
    format!(
        "{}.{:0width$}",
        thousands(rounded / factor),
        rounded % factor
    )
}

fn giga(bytes: u64) -> String {
    scaled(bytes, 1_000_000_000, 3)
}

/// A fraction with at most `decimals` digits after the point, trailing zeros dropped.
fn decimal(growth: Growth, decimals: u32) -> String {
    let factor = 10u128.pow(decimals);
    let rounded = (2 * growth.bytes * factor + growth.tokens) / (2 * growth.tokens);
    let (whole, fraction) = (thousands(rounded / factor), rounded % factor);
    let width = decimals as usize;
    let fraction = format!("{fraction:0width$}");
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() {
        whole
    } else {
        format!("{whole}.{fraction}")
    }
}
