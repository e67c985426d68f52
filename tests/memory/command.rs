//! `fleetmem models`: what a user sees.

use clap::Parser;
use fleetmem::cli::models::{self, ModelsArgs};
use fleetmem::memory::ModelError;

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    args: ModelsArgs,
}

fn parse(line: &str) -> Result<ModelsArgs, clap::Error> {
    Cli::try_parse_from(std::iter::once("models").chain(line.split_whitespace())).map(|c| c.args)
}

fn output(line: &str) -> String {
    let mut out = Vec::new();
    models::run(&parse(line).unwrap(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn rows(csv: &str) -> Vec<std::collections::HashMap<String, String>> {
    csv::Reader::from_reader(csv.as_bytes())
        .deserialize()
        .map(Result::unwrap)
        .collect()
}

#[test]
fn three_models_at_four_lengths_fit_80_columns() {
    let text = output("kimi-k3 all-mla-93 deepseek-v4-pro --tokens 128K,131072,1M,1Mi");
    let expected = "                         kimi-k3  all-mla-93  deepseek-v4-pro
                      (baseline)
Layers             24 MLA+69 KDA      93 MLA    30 CSA+31 HCA
KV                          bf16        bf16              fp8
Indexer                        -           -              fp8
State                       fp32           -                -
Convolution                 bf16           -                -
Tail                           -           -             fp32
Weights, GB            1,560.860     unknown             ~865

B per token               27,648     107,136       5,511.4375
Constant, B          449,372,160           0       23,270,400
Snapshot, B          449,372,160           0        4,559,872
  worth tokens            16,253           0              827
  stores              state+conv           -          windows

Held, GB
  128K = 128,000           3.988      13.713            0.729
  131,072                  4.073      14.043            0.746
  1M = 1,000,000          28.097     107.136            5.535
  1Mi = 1,048,576         29.440     112.340            5.802
Saving
  128K = 128,000               -     -243.8%            81.7%
  131,072                      -     -244.7%            81.7%
  1M = 1,000,000               -     -281.3%            80.3%
  1Mi = 1,048,576              -     -281.6%            80.3%
";
    assert!(text.starts_with(expected), "{text}");
}

#[test]
fn no_line_passes_80_columns() {
    let names: Vec<&str> = fleetmem::memory::catalogue().collect();
    let all = names.join(" ");
    for line in [
        "",
        "--tokens 128K,131072,1M,1Mi",
        &format!("{all} --tokens 128K,131072,1M,1Mi --sources"),
        "deepseek-v4-flash minimax-m1 nemotron-3-super --tokens 1000,128K,1M,1Mi",
    ] {
        for printed in output(line).lines() {
            // A source without spaces cannot be wrapped.
            let word = printed.split_whitespace().map(str::len).max().unwrap_or(0);
            assert!(printed.chars().count() <= 80 || word > 70, "{printed}");
        }
    }
    let three = output("deepseek-v4-flash minimax-m1 nemotron-3-super --tokens 1000,128K,1M,1Mi");
    assert_eq!(three.matches("Layers").count(), 1, "one block:\n{three}");
}

#[test]
fn the_list_names_every_model_once() {
    let text = output("");
    for name in fleetmem::memory::catalogue() {
        assert_eq!(
            text.lines()
                .filter(|l| l.split_whitespace().next() == Some(name))
                .count(),
            1,
            "{name}"
        );
    }
    assert_eq!(
        rows(&output("--format csv")).len(),
        fleetmem::memory::catalogue().count()
    );
}

#[test]
fn csv_and_json_carry_exact_integers() {
    let rows = rows(&output(
        "all-mla-93 kimi-k3:state=bf16 deepseek-v4-pro:as=Pro --tokens 128K,1Mi --format csv",
    ));
    assert_eq!(rows.len(), 6);
    let cell = |row: usize, column: &str| rows[row][column].as_str();
    assert_eq!(cell(0, "bytes"), "13713408000");
    assert_eq!(cell(0, "saving"), "0.000000");
    assert_eq!(
        (cell(2, "model"), cell(2, "state"), cell(2, "conv")),
        ("kimi-k3:state=bf16", "bf16", "bf16")
    );
    assert_eq!(
        (cell(3, "tokens"), cell(3, "bytes")),
        ("1048576", "29223346176")
    );
    assert_eq!(
        (
            cell(5, "model"),
            cell(5, "growth_bytes"),
            cell(5, "growth_tokens")
        ),
        ("Pro", "88183", "16")
    );
    assert_eq!(
        (cell(5, "bytes_per_token"), cell(5, "bytes")),
        ("5511.4375", "5802431488")
    );
    assert_eq!((cell(0, "weights_bytes"), cell(0, "state")), ("", ""));

    let json: serde_json::Value = serde_json::from_str(&output(
        "deepseek-v4-pro:checkpoint=windows+tails --tokens 1Mi --format json",
    ))
    .unwrap();
    let model = &json["models"][0];
    assert_eq!(model["at"][0]["bytes"], 5_802_431_488u64);
    assert_eq!(model["snapshot_bytes"], 23_270_400u64);
    assert_eq!(model["growth"]["bytes"], 88_183);
    assert!(
        model["groups"][0]["sources"][0]
            .as_str()
            .unwrap()
            .contains("config.json")
    );
}

#[test]
fn short_contexts_are_printed_in_bytes() {
    let text = output("kimi-k2 llama-3.1-70b --tokens 1,10");
    assert!(
        text.contains("Held, B") && text.contains("327,680"),
        "{text}"
    );
}

#[test]
fn lengths_beyond_a_models_context_are_remarked() {
    let text = output("llama-3.1-70b kimi-k3 --tokens 128K,1M");
    assert!(
        text.contains("llama-3.1-70b is made for 131,072 tokens"),
        "{text}"
    );
    assert!(!text.contains("kimi-k3 is made for"), "{text}");
}

#[test]
fn lengths_are_read_exactly_or_refused() {
    for (length, tokens) in [
        ("1.5M", "1500000"),
        ("128Ki", "131072"),
        ("131_072", "131072"),
        ("0.001K", "1"),
    ] {
        let rows = rows(&output(&format!("kimi-k2 --format csv --tokens {length}")));
        assert_eq!(rows[0]["tokens"], tokens);
    }
    for length in [
        "0",
        "1.5",
        "0.0001K",
        "128KB",
        "K",
        ".5M",
        "1e6",
        "100G",
        "99999999999999999999999M",
        "",
        "1..5K",
    ] {
        let error = parse(&format!("kimi-k2 --tokens={length}"))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("is not a context length"),
            "{length}: {error}"
        );
    }
}

#[test]
fn users_files_and_mistakes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mine.yaml");
    let path = path.to_str().unwrap();
    std::fs::write(
        path,
        "name: mine\ndtypes: {kv: bf16}\ngroups:\n  - mla: {layers: 2, latent: 512, rope: 64}\n",
    )
    .unwrap();
    let rows = rows(&output(&format!("{path}:kv=fp8 --tokens 1K --format csv")));
    assert_eq!(
        (rows[0]["model"].as_str(), rows[0]["bytes"].as_str()),
        ("mine", "1152000")
    );

    let fails = |line: &str| {
        let error = models::run(&parse(line).unwrap(), &mut Vec::new()).unwrap_err();
        assert!(
            error.is::<ModelError>(),
            "bad input must be told apart: {error}"
        );
        error.to_string()
    };
    assert!(fails("kimi-k4").contains("did you mean `kimi-k"));
    assert!(fails(&format!("{path}x.yaml")).contains("cannot be read"));
    assert!(fails(dir.path().join(".").to_str().unwrap()).contains("cannot be read"));
    std::fs::write(path, vec![b'x'; 10_000_000]).unwrap();
    assert!(fails(path).contains("10000000 bytes is too large"));
    std::fs::write(path, [0xff, 0xfe, 0x00]).unwrap();
    assert!(fails(path).contains("not UTF-8"));
    assert!(
        parse("kimi-k3:color=red")
            .unwrap_err()
            .to_string()
            .contains("`color` cannot be changed")
    );
    assert!(
        parse("kimi-k3:checkpoint=all")
            .unwrap_err()
            .to_string()
            .contains("`none`, `windows`")
    );
}
