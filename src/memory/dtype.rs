//! Data types and packed entry formats: bytes of one entry of one layer, by name.
//!
//! | name | where | bytes |
//! |---|---|---|
//! | `fp32` `bf16` `fp16` `fp8` | everywhere they are allowed | 4, 2, 2, 1 per element, no scales |
//! | `fp4` | KV | 4 bits per element and one 8-bit scale per 16: 288 for V4's 512 dimensions (DeepSeek-V4.1-Flash, arXiv 2609.19969) |
//! | `fp8_ds_mla` | MLA | fp8 latent, a 4-byte scale per 128, bf16 rotary key: 656 for 512 + 64 (`vllm:vllm/v1/kv_cache_interface.py`, MLAAttentionSpec) |
//! | `nvfp4_ds_mla` | MLA of 512 + 64 | 432 as printed (`local-inference-lab/vllm#82`) |
//! | `fp8` | DeepSeek-V4's shared latent | fp8 plain part, bf16 rotary part, a 1-byte scale per 64 padded to 8: 584 for 448 + 64 (`sglang:python/sglang/srt/mem_cache/deepseek_v4_memory_pool.py` @007bddd, `vllm:vllm/models/deepseek_v4/attention.py`) |
//! | `fp8` | indexer key | 1 per element and a 4-byte scale per 128: 132 for 128 (same sources) |
//! | `fp4` | indexer key | 4 bits per element and a 1-byte scale per 32: 68 for 128 (same sources) |

use std::fmt;

/// The roles that a data type can be chosen for. Each is a field of a model file's `dtypes` and
/// of a scenario's model reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// KV entries and windows.
    Kv,
    /// Indexer keys.
    Indexer,
    /// Recurrent state.
    State,
    /// Convolution state.
    Conv,
    /// Compressor tails.
    Tail,
}

impl Role {
    /// All roles, in the order of files and tables.
    pub const ALL: [Role; 5] = [Role::Kv, Role::Indexer, Role::State, Role::Conv, Role::Tail];

    /// The field's name.
    pub fn field(self) -> &'static str {
        match self {
            Role::Kv => "kv",
            Role::Indexer => "indexer",
            Role::State => "state",
            Role::Conv => "conv",
            Role::Tail => "tail",
        }
    }

    /// The role in words, for sentences such as "has no recurrent state".
    pub fn words(self) -> &'static str {
        match self {
            Role::Kv => "KV entries",
            Role::Indexer => "indexer keys",
            Role::State => "recurrent state",
            Role::Conv => "convolution state",
            Role::Tail => "compressor tails",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.field())
    }
}

/// What one entry of one layer is made of, before a format is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Keys and values per head.
    Heads {
        kv_heads: u128,
        key_dim: u128,
        value_dim: u128,
    },
    /// An MLA latent and its rotary key.
    Mla { latent: u128, rope: u128 },
    /// DeepSeek-V4's latent, shared as key and value; `rope <= dim` of it are rotary.
    Latent { dim: u128, rope: u128 },
    /// An indexer key.
    Indexer { dim: u128 },
    /// This many plain elements: recurrent state, convolution state, a tail.
    Elements(u128),
}

const FORMATS: [&str; 7] = [
    "fp32",
    "bf16",
    "fp16",
    "fp8",
    "fp8_ds_mla",
    "fp4",
    "nvfp4_ds_mla",
];

impl Shape {
    /// Bytes in this format, `None` if the shape cannot have it. Never overflows: counts are at
    /// most 1e9 (see [`super::spec::MAX_COUNT`]), so a product of three is below 2^90.
    pub(super) fn bytes(self, format: &str) -> Option<u128> {
        let plain = |elements: u128| match format {
            "fp32" => Some(elements * 4),
            "bf16" | "fp16" => Some(elements * 2),
            _ => None,
        };
        // One byte of scale per 16 elements of half a byte.
        let fp4 = |elements: u128| elements.is_multiple_of(16).then_some(elements / 16 * 9);
        match self {
            Shape::Heads {
                kv_heads,
                key_dim,
                value_dim,
            } => match format {
                "fp8" => Some(kv_heads * (key_dim + value_dim)),
                "fp4" => Some(kv_heads * (fp4(key_dim)? + fp4(value_dim)?)),
                _ => plain(kv_heads * (key_dim + value_dim)),
            },
            Shape::Mla { latent, rope } => match format {
                "fp8" => Some(latent + rope),
                "fp4" => fp4(latent + rope),
                "fp8_ds_mla" => latent
                    .is_multiple_of(128)
                    .then_some(latent + latent / 128 * 4 + rope * 2),
                "nvfp4_ds_mla" => (latent == 512 && rope == 64).then_some(432),
                _ => plain(latent + rope),
            },
            Shape::Latent { dim, rope } => match format {
                "fp8" => {
                    let flat = dim.checked_sub(rope)?;
                    Some(flat + rope * 2 + flat.div_ceil(64).next_multiple_of(8))
                }
                "fp4" => fp4(dim),
                "fp32" => None,
                _ => plain(dim),
            },
            Shape::Indexer { dim } => match format {
                "fp8" => Some(dim + dim.div_ceil(128) * 4),
                "fp4" => Some(dim.div_ceil(2) + dim.div_ceil(32)),
                "fp32" => None,
                _ => plain(dim),
            },
            Shape::Elements(n) => plain(n),
        }
    }

    /// Whether a name is a built-in format of some shape.
    pub(super) fn is_format(name: &str) -> bool {
        FORMATS.contains(&name)
    }

    /// The built-in formats that this shape can have.
    pub(super) fn formats(self) -> impl Iterator<Item = &'static str> {
        FORMATS.into_iter().filter(move |f| self.bytes(f).is_some())
    }
}

/// The name that someone who wrote `found` may have meant: a usual spelling elsewhere, or the
/// nearest of `allowed`.
pub(super) fn suggest(found: &str, allowed: &[String]) -> Option<String> {
    let lower = found.to_ascii_lowercase();
    let usual = match lower.as_str() {
        "float32" | "f32" | "float" | "fp_32" => "fp32",
        "bfloat16" | "bf_16" => "bf16",
        "float16" | "f16" | "half" => "fp16",
        "fp8_e4m3" | "fp8_e5m2" | "e4m3" | "float8" | "f8" | "float8_e4m3fn" => "fp8",
        "nvfp4" | "mxfp4" | "float4" | "f4" => "fp4",
        _ => lower.as_str(),
    };
    if allowed.iter().any(|a| a == usual) {
        return Some(usual.to_owned());
    }
    // Names such as fp4 and fp8 are near each other, so only a plain misspelling counts.
    let near = nearest(&lower, allowed.iter().map(String::as_str))?;
    (strsim::jaro_winkler(&lower, &near) > 0.9).then_some(near)
}

/// The nearest of `names` to `found`, if it is near enough to be a misspelling or `found` begins
/// it.
pub(super) fn nearest<'a>(
    found: &str,
    names: impl Iterator<Item = &'a str> + Clone,
) -> Option<String> {
    let found = found.to_ascii_lowercase();
    let longer = names
        .clone()
        .find(|n| found.len() > 1 && n.to_ascii_lowercase().starts_with(&found));
    let near = || {
        names
            .map(|n| (strsim::jaro_winkler(&found, &n.to_ascii_lowercase()), n))
            .filter(|(score, _)| *score > 0.8)
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, n)| n)
    };
    longer.or_else(near).map(str::to_owned)
}
