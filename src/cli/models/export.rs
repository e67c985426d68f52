//! CSV and JSON: exact integers.

use std::io::Write;

use serde_json::{Value, json};

use super::{Length, Shown, saving};
use crate::memory::Role;

pub(super) fn write_csv(
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

pub(super) fn json_row(m: &Shown, baseline: &Shown, lengths: &[Length], listing: bool) -> Value {
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
