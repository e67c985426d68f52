//! The catalogue and comparisons as text within 80 columns.

use std::fmt::Write;

use super::numbers::{decimal, giga, scaled, thousands};
use super::{Length, Shown, saving};
use crate::memory::Role;

/// Bytes of recurrent and convolution state, windows once full, and tails.
const NOTE: &str = "One sequence, logical bytes: one copy, no rounding to blocks. GB = 1e9 B.\n\
    Constant: recurrent state, full windows and compressor tails.\n";

const WIDTH: usize = 80;

/// The catalogue, a model a line: layers and data types, or bytes at the lengths if there are any.
pub(super) fn list(models: &[Shown], lengths: &[Length]) -> String {
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
pub(super) fn compare(models: &[Shown], lengths: &[Length]) -> String {
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
                for (cell, w) in line.cells.iter().zip(&widths).take(end).skip(first) {
                    let _ = write!(row, "  {cell:>w$}");
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
pub(super) fn sources(models: &[Shown]) -> String {
    let mut text = String::new();
    for m in models {
        let _ = write!(
            text,
            "\n{}",
            wrapped("", &format!("{}: {}", m.heading, m.spec.description))
        );
        for (what, source) in source_items(m) {
            text.push_str(&wrapped("  ", &format!("{what}: {source}")));
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

/// A hanging paragraph within 80 columns, its first line behind `indent`.
fn wrapped(indent: &str, paragraph: &str) -> String {
    let mut text = String::new();
    let mut line = indent.to_owned();
    for word in paragraph.split_whitespace() {
        if line.len() == indent.len() {
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
