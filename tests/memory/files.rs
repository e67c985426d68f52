//! Model files as users write them, right and wrong.

use fleetmem::memory::parse::MAX_FILE_BYTES;
use fleetmem::memory::{ModelError, Overrides, lookup, parse_model};

use crate::overrides;

const GOOD: &str = "\
name: mine
dtypes: {kv: bf16, state: fp32}
groups:
  - mla: {layers: 10, latent: 512, rope: 64}
  - recurrent: {kind: kda, layers: 3, heads: 2, key_dim: 128, value_dim: 128}
";

fn error(text: &str) -> String {
    parse_model(text, "mine.yaml").expect_err(text).to_string()
}

fn error_of(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    error(&GOOD.replacen(from, to, 1))
}

#[test]
fn a_users_file_works_like_the_catalogue() {
    let spec = parse_model(GOOD, "mine.yaml").unwrap();
    let f = spec
        .resolve(&Overrides::default(), "mine")
        .unwrap()
        .footprint;
    assert_eq!(f.bytes(1000), 10 * 1152 * 1000 + 3 * 2 * 128 * 128 * 4);
    let f = spec
        .resolve(&overrides(&[("kv", "fp8"), ("state", "bf16")]), "mine")
        .unwrap()
        .footprint;
    assert_eq!(f.bytes(1000), 10 * 576 * 1000 + 3 * 2 * 128 * 128 * 2);
    assert_eq!(f.bytes(0), 0);
}

#[test]
fn a_group_may_bring_its_own_packed_format() {
    let text = GOOD.replace("rope: 64}", "rope: 64, formats: {mine_656: 700}}");
    let spec = parse_model(&text, "mine.yaml").unwrap();
    let f = spec
        .resolve(&overrides(&[("kv", "mine_656")]), "mine")
        .unwrap()
        .footprint;
    assert_eq!(f.kv_bytes(10), 10 * 700 * 10);
    let shadow = error(&GOOD.replace("rope: 64}", "rope: 64, formats: {fp8: 700}}"));
    assert!(
        shadow.contains("groups[0].formats: `fp8` is built in"),
        "{shadow}"
    );
}

#[test]
fn errors_say_where_what_and_what_is_allowed() {
    let cases = [
        (
            "layers: 10",
            "layers: 0",
            "mine.yaml:4:19: `0` is not a whole number from 1 to 1000000000",
        ),
        ("layers: 10", "layers: -3", "mine.yaml:4:19: `-3` is not"),
        ("layers: 10", "layers: 1.5", "mine.yaml:4:19: `1.5` is not"),
        (
            "layers: 10",
            "layers: 99999999999999999999",
            "mine.yaml:4:19: `99999999999999999999` is not",
        ),
        ("heads: 2", "heads: 0", "mine.yaml:5:46: `0` is not"),
        (
            "heads:",
            "haeds:",
            "mine.yaml:5:39: unknown field `haeds` (did you mean `heads`?); allowed: kind, layers",
        ),
        (
            "- mla",
            "- mls",
            "unknown kind `mls` (did you mean `mla`?); allowed: full, mla, indexer",
        ),
        (
            "kda",
            "rwkv",
            "unknown kind `rwkv`; allowed: kda, gdn, mamba2, lightning",
        ),
        (
            "layers: 10, ",
            "",
            "mine.yaml:4:24: the field `layers` is missing",
        ),
        (
            "kv: bf16",
            "kv: bfloat16",
            "mine.yaml:2:14: dtypes.kv: `bfloat16` is not a data type of the KV entries (did you mean `bf16`?); allowed: fp32, bf16",
        ),
        (
            "state: fp32",
            "state: fp8",
            "dtypes.state: `fp8` is not a data type of the recurrent state; allowed: fp32, bf16, fp16",
        ),
        (
            ", state: fp32",
            "",
            "dtypes.state: missing: a group has recurrent state; choose one of fp32",
        ),
        (
            "state: fp32",
            "state: fp32, tail: fp32",
            "mine.yaml:2:39: dtypes.tail: no group has compressor tails",
        ),
        (
            "name: mine",
            "name: \"\"",
            "mine.yaml:1:7: name: 1 to 64 letters",
        ),
        (
            "groups:",
            "checkpoint: [tails]\ngroups:",
            "mine.yaml:3:13: checkpoint: the model has no compressor tails",
        ),
        (
            "groups:",
            "checkpoint: all\ngroups:",
            "`all` is not something a snapshot may store: `none`, `windows`",
        ),
        (
            "layers: 10",
            "layers: 10, layers: 10",
            "mine.yaml:4:23: duplicate mapping key `layers`",
        ),
    ];
    for (from, to, expected) in cases {
        let text = error_of(from, to);
        assert!(
            text.contains(expected),
            "{from} -> {to}\n{text}\nexpected: {expected}"
        );
    }
}

#[test]
fn an_error_shows_the_line() {
    let text = error_of("layers: 10", "layers: ten");
    let expected = "
  4 |   - mla: {layers: ten, latent: 512, rope: 64}
    |                   ^";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn what_is_no_model_file_is_an_error() {
    for text in [
        "",
        "---",
        "[1, 2]",
        "hello",
        "not: [closed",
        "{",
        "\u{0}\u{1}",
        "name: x",
        "a: *nowhere",
        "\u{feff}",
    ] {
        error(text);
    }
    let large = "x".repeat(usize::try_from(MAX_FILE_BYTES).unwrap() + 1);
    assert!(matches!(
        parse_model(&large, "big.yaml"),
        Err(ModelError::TooLarge { .. })
    ));
    let deep = "[".repeat(200_000);
    error(&deep);
    error("name: x\ndtypes: {}\ngroups: []\n");
}

#[test]
fn absurd_sizes_are_errors_and_never_wrap() {
    let huge = [
        "full: {layers: 1000000000, kv_heads: 1000000000, head_dim: 1000000000}",
        "mla: {layers: 1000000000, latent: 1000000000, rope: 1000000000}",
        "window: {layers: 1000000000, tokens: 1000000000, kv_heads: 1000, head_dim: 1000}",
    ];
    for group in huge {
        let text = error(&format!(
            "name: x\ndtypes: {{kv: bf16}}\ngroups:\n  - {group}\n"
        ));
        assert!(text.contains("would pass 2^64 bytes"), "{text}");
    }
    let state = "name: x\ndtypes: {state: fp32, conv: bf16}\ngroups:\n  - recurrent: {kind: gdn, layers: 1000000000, heads: \
                 1000000000, key_dim: 1000000000, value_dim: 1000000000, conv: {rows: 1, channels: 1}}\n";
    assert!(
        error(state).contains("recurrent state would pass"),
        "{}",
        error(state)
    );
    // Coprime ratios whose common multiple cannot be counted.
    let ratios: String = [999_999_937u64, 999_999_929, 999_999_893]
        .iter()
        .map(|r| format!("  - compressed: {{layers: 1, ratio: {r}, dim: 64, rope: 32}}\n"))
        .collect();
    error(&format!("name: x\ndtypes: {{kv: bf16}}\ngroups:\n{ratios}"));
}

#[test]
fn alias_bombs_are_refused() {
    let mut text = "name: x\ndescription: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
    for i in 1..12 {
        let prev = i - 1;
        text.push_str(&format!("k{i}: &a{i} [*a{prev},*a{prev},*a{prev},*a{prev},*a{prev},*a{prev},*a{prev},*a{prev}]\n"));
    }
    error(&text);
}

#[test]
fn overrides_must_fit_the_model() {
    let wrong = |name: &str, field: &str, value: &str| {
        lookup(name)
            .unwrap()
            .resolve(&overrides(&[(field, value)]), name)
            .unwrap_err()
    };
    let e = wrong("kimi-k3", "kv", "int3");
    assert_eq!(e.field(), Some("kv"));
    assert_eq!(
        e.to_string(),
        "model kimi-k3: kv: `int3` is not a data type of its KV entries; allowed: fp32, bf16, fp16, fp8, fp8_ds_mla, \
         fp4, nvfp4_ds_mla"
    );
    let e = wrong("llama-3.1-70b", "kv", "fp8_ds_mla");
    assert!(
        e.to_string()
            .ends_with("allowed: fp32, bf16, fp16, fp8, fp4"),
        "{e}"
    );
    let e = wrong("all-mla-93", "state", "bf16");
    assert_eq!(e.field(), Some("state"));
    assert_eq!(
        e.to_string(),
        "model all-mla-93 has no recurrent state, so `state` cannot be set; it has: kv"
    );
    let checkpoint = Overrides {
        checkpoint: Some(Default::default()),
        ..Overrides::default()
    };
    let e = lookup("kimi-k3")
        .unwrap()
        .resolve(&checkpoint, "x")
        .unwrap_err();
    assert_eq!(
        e.to_string(),
        "model kimi-k3 has no windows, so `checkpoint` cannot name them"
    );
}

#[test]
fn unknown_names_get_the_nearest() {
    let text = |name: &str| lookup(name).unwrap_err().to_string();
    assert!(text("kimi-k33").contains("did you mean `kimi-k3`?"));
    assert!(text("Kimi-K3").contains("did you mean `kimi-k3`?"));
    assert!(
        text("deepseek-v4").contains("did you mean `deepseek-v4-pro`?"),
        "{}",
        text("deepseek-v4")
    );
    assert!(!text("xyz").contains("did you mean"));
}
