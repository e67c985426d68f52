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

static ITEMS: [Item; 4] = items![
    "all-mla-93",
    "kimi-k3",
    "kimi-k3-article",
    "deepseek-v4-pro"
];

/// The names of the catalogue's models, in the order of listings.
pub fn catalogue() -> impl Iterator<Item = &'static str> {
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
