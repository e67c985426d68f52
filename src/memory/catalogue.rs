//! The models that come with the program: YAML files embedded in the binary, read when asked for.

use std::sync::OnceLock;

use super::dtype::nearest;
use super::error::ModelError;
use super::parse::parse_model;
use super::spec::ModelSpec;

struct Item {
    name: &'static str,
    text: &'static str,
    parsed: OnceLock<Result<ModelSpec, ModelError>>,
}

macro_rules! items {
    ($($name:literal),* $(,)?) => {
        [$(Item {
            name: $name,
            text: include_str!(concat!("catalogue/", $name, ".yaml")),
            parsed: OnceLock::new(),
        }),*]
    };
}

static ITEMS: [Item; 28] = items![
    "all-mla-93",
    "csa-hca-93",
    "gqa-93",
    "mha-93x96",
    "mha-80x64",
    "kimi-k3",
    "kimi-k3-article",
    "kimi-linear-48b",
    "kimi-k2",
    "deepseek-v3",
    "deepseek-v3.2",
    "deepseek-v4-pro",
    "deepseek-v4-flash",
    "llama-3.1-70b",
    "qwen3-next-80b",
    "qwen3.5-397b",
    "nemotron-h-56b",
    "nemotron-3-nano",
    "nemotron-3-super",
    "nemotron-3-ultra",
    "minimax-m1",
    "minimax-m2",
    "gpt-oss-20b",
    "gpt-oss-120b",
    "gemma-3-27b",
    "mimo-v2-flash",
    "glm-4.5",
    "glm-5",
];

/// The names of the catalogue's models, in the order of listings.
pub fn catalogue() -> impl Iterator<Item = &'static str> + Clone {
    ITEMS.iter().map(|i| i.name)
}

/// The catalogue model of this name.
///
/// # Errors
/// [`ModelError::Unknown`] with the nearest name.
pub fn lookup(name: &str) -> Result<&'static ModelSpec, ModelError> {
    let Some(item) = ITEMS.iter().find(|i| i.name == name) else {
        return Err(ModelError::Unknown {
            name: name.to_owned(),
            suggestion: nearest(name, catalogue()),
        });
    };
    item.parsed
        .get_or_init(|| parse_model(item.text, item.name))
        .as_ref()
        .map_err(Clone::clone)
}
