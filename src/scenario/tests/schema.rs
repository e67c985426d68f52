//! The JSON Schema: fresh, and in agreement with the reader.

use super::good;
use crate::scenario::{STARTER, schema};

/// `UPDATE=1 cargo test` writes it anew.
#[test]
fn the_committed_schema_is_fresh() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/schema.json");
    let fresh = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios")).unwrap();
        std::fs::write(path, &fresh).unwrap();
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        committed == fresh,
        "scenarios/schema.json is stale: UPDATE=1 cargo test --lib schema writes it anew"
    );
}

#[test]
fn the_schema_describes_every_field() {
    let schema = schema();
    assert_eq!(
        schema["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    assert_eq!(schema["additionalProperties"], false);
    let required: Vec<&str> = schema["required"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v.as_str().unwrap())
        .collect();
    assert_eq!(required, ["measure", "models", "agents", "workload"]);
    assert_eq!(schema["properties"].as_object().unwrap().len(), 14);
    let mut objects = 0;
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        let Some(properties) = definition.get("properties").and_then(|p| p.as_object()) else {
            continue;
        };
        objects += 1;
        assert_eq!(definition["additionalProperties"], false, "{name}");
        for (field, property) in properties {
            assert!(
                property["description"]
                    .as_str()
                    .is_some_and(|d| d.len() > 4),
                "{name}.{field}"
            );
        }
    }
    assert!(objects > 20, "{objects}");
    // References lead somewhere.
    let text = schema.to_string();
    for part in text.split("\"#/$defs/").skip(1) {
        let name = &part[..part.find('"').unwrap()];
        assert!(schema["$defs"].get(name).is_some(), "{name}");
    }
}

#[test]
fn the_starter_is_a_right_scenario() {
    let scenario = good(STARTER, &[]);
    assert_eq!(scenario.agents.len(), 3);
    assert_eq!(scenario.warnings, [""; 0]);
}
