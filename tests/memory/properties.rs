//! Properties of every model: a footprint is the sum of its groups and grows with the context.

use fleetmem::memory::parts::Place;
use fleetmem::memory::{MAX_SEQUENCE_TOKENS, Overrides, catalogue, lookup, parse_model};
use proptest::prelude::*;

/// A group in YAML and its bytes at `tokens`, worked out apart from the library.
#[derive(Clone, Debug)]
enum Case {
    Full {
        layers: u64,
        kv_heads: u64,
        key: u64,
        value: u64,
    },
    Mla {
        layers: u64,
        latent: u64,
        rope: u64,
    },
    Indexer {
        layers: u64,
        dim: u64,
    },
    Window {
        layers: u64,
        tokens: u64,
        kv_heads: u64,
        dim: u64,
    },
    Compressed {
        layers: u64,
        ratio: u64,
        dim: u64,
        indexer: u64,
        window: u64,
        slots: u64,
    },
    Recurrent {
        layers: u64,
        heads: u64,
        key: u64,
        value: u64,
        channels: u64,
    },
}

impl Case {
    fn yaml(&self) -> String {
        match self {
            Case::Full {
                layers,
                kv_heads,
                key,
                value,
            } => {
                format!(
                    "full: {{layers: {layers}, kv_heads: {kv_heads}, head_dim: {key}, value_dim: {value}}}"
                )
            }
            Case::Mla {
                layers,
                latent,
                rope,
            } => format!("mla: {{layers: {layers}, latent: {latent}, rope: {rope}}}"),
            Case::Indexer { layers, dim } => format!("indexer: {{layers: {layers}, dim: {dim}}}"),
            Case::Window {
                layers,
                tokens,
                kv_heads,
                dim,
            } => {
                format!(
                    "window: {{layers: {layers}, tokens: {tokens}, kv_heads: {kv_heads}, head_dim: {dim}}}"
                )
            }
            Case::Compressed {
                layers,
                ratio,
                dim,
                indexer,
                window,
                slots,
            } => format!(
                "compressed: {{layers: {layers}, ratio: {ratio}, dim: {dim}, rope: 1, window: {window}, indexer: {{dim: \
                 {indexer}}}, tail: {{slots: {slots}, width: 3}}}}"
            ),
            Case::Recurrent {
                layers,
                heads,
                key,
                value,
                channels,
            } => format!(
                "recurrent: {{kind: gdn, layers: {layers}, heads: {heads}, key_dim: {key}, value_dim: {value}, conv: \
                 {{rows: 3, channels: {channels}}}}}"
            ),
        }
    }

    /// KV and indexer in bf16, state in fp32, convolution and tails in bf16; `t > 0`.
    fn bytes(&self, t: u64) -> u64 {
        match self {
            Case::Full {
                layers,
                kv_heads,
                key,
                value,
            } => t * layers * kv_heads * (key + value) * 2,
            Case::Mla {
                layers,
                latent,
                rope,
            } => t * layers * (latent + rope) * 2,
            Case::Indexer { layers, dim } => t * layers * dim * 2,
            Case::Window {
                layers,
                tokens,
                kv_heads,
                dim,
            } => t.min(*tokens) * layers * kv_heads * dim * 4,
            Case::Compressed {
                layers,
                ratio,
                dim,
                indexer,
                window,
                slots,
            } => layers * (t / ratio * (dim + indexer) * 2 + t.min(*window) * dim * 2 + slots * 6),
            Case::Recurrent {
                layers,
                heads,
                key,
                value,
                channels,
            } => layers * (heads * key * value * 4 + 3 * channels * 2),
        }
    }
}

fn case() -> impl Strategy<Value = Case> {
    let n = || 1u64..200;
    prop_oneof![
        (n(), n(), n(), n()).prop_map(|(layers, kv_heads, key, value)| Case::Full {
            layers,
            kv_heads,
            key,
            value
        }),
        (n(), n(), n()).prop_map(|(layers, latent, rope)| Case::Mla {
            layers,
            latent,
            rope
        }),
        (n(), n()).prop_map(|(layers, dim)| Case::Indexer { layers, dim }),
        (n(), n(), n(), n()).prop_map(|(layers, tokens, kv_heads, dim)| Case::Window {
            layers,
            tokens,
            kv_heads,
            dim
        }),
        (n(), n(), n(), n(), n(), n()).prop_map(|(layers, ratio, dim, indexer, window, slots)| {
            Case::Compressed {
                layers,
                ratio,
                dim,
                indexer,
                window,
                slots,
            }
        }),
        (n(), n(), n(), n(), n()).prop_map(|(layers, heads, key, value, channels)| {
            Case::Recurrent {
                layers,
                heads,
                key,
                value,
                channels,
            }
        }),
    ]
}

fn file(cases: &[Case]) -> String {
    let has = |f: fn(&Case) -> bool| cases.iter().any(f);
    let mut dtypes = Vec::new();
    if has(|c| !matches!(c, Case::Indexer { .. } | Case::Recurrent { .. })) {
        dtypes.push("kv: bf16");
    }
    if has(|c| matches!(c, Case::Indexer { .. } | Case::Compressed { .. })) {
        dtypes.push("indexer: bf16");
    }
    if has(|c| matches!(c, Case::Recurrent { .. })) {
        dtypes.push("state: fp32, conv: bf16");
    }
    if has(|c| matches!(c, Case::Compressed { .. })) {
        dtypes.push("tail: bf16");
    }
    let groups: String = cases
        .iter()
        .map(|c| format!("  - {}\n", c.yaml()))
        .collect();
    format!(
        "name: random\ndtypes: {{{}}}\ngroups:\n{groups}",
        dtypes.join(", ")
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn bytes_are_the_sum_of_the_groups(cases in prop::collection::vec(case(), 1..6), t in 1u64..2000) {
        // Five ratios below 200: their common multiple stays below the bound of 2^40.
        let spec = parse_model(&file(&cases), "random.yaml").unwrap();
        let f = spec.resolve(&Overrides::default(), "random").unwrap().footprint;
        prop_assert_eq!(f.bytes(t), cases.iter().map(|c| c.bytes(t)).sum::<u64>());
        prop_assert_eq!(f.checked_bytes(t), Some(f.bytes(t)));
        prop_assert_eq!(f.bytes(0), 0);
        prop_assert!(f.bytes(t) <= f.bytes(t + 1));
        prop_assert!(f.snapshot_bytes(t) <= f.bytes(t));
        prop_assert!(f.entries.is_sorted_by(|a, b| a.ratio < b.ratio));
        prop_assert!(f.windows.is_sorted_by(|a, b| a.tokens < b.tokens));
    }

    #[test]
    fn catalogue_footprints_grow_and_split_by_part(index in 0..catalogue().count(), t in 1u64..MAX_SEQUENCE_TOKENS) {
        let name = catalogue().nth(index).unwrap();
        let resolved = lookup(name).unwrap().resolve_parts(&Overrides::default()).unwrap();
        let f = &resolved.footprint;
        prop_assert!(f.bytes(t - 1) <= f.bytes(t));
        let parts: u64 = resolved.parts.iter().map(|p| p.layers * p.bytes * match p.place {
            Place::Entries { ratio } => t / ratio,
            Place::Window { tokens } => t.min(tokens),
            Place::State | Place::Tail => 1,
        }).sum();
        prop_assert_eq!(f.bytes(t), parts);
        prop_assert_eq!(f.kv_bytes(t) + f.state_bytes + f.tail_bytes, f.bytes(t));
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "[ -~\n]{0,200}") {
        let _ = parse_model(&text, "random.yaml");
    }
}
