//! Published and derived numbers, to the digits printed.

use fleetmem::memory::{Checkpoint, Overrides, catalogue, lookup};

use crate::{model, overrides};

/// Model, overrides, bytes per token, constant bytes, GB at 128,000, 131,072, 1,000,000 and 2^20
/// tokens. Derived from the dimensions in each model's own sources; GB are rounded as printed.
const MASTER: &str = "
mha-80x64          -                         2621440         0    335.5    343.6   2621.4   2748.8
mha-93x96          -                         4571136         0    585.1    599.1   4571.1   4793.2
llama-3.1-70b      -                          327680         0    41.94    42.95   327.68   343.60
glm-4.5            -                          376832         0    48.23    49.39   376.83   395.14
minimax-m2         -                          253952         0    32.51    33.29   253.95   266.29
all-mla-93         -                          107136         0   13.713   14.043  107.136  112.340
deepseek-v3        -                           70272         0    8.995    9.211   70.272   73.686
kimi-k2            -                           70272         0    8.995    9.211   70.272   73.686
deepseek-v3.2      -                           48068         0    6.153    6.300   48.068   50.403
deepseek-v3.2      kv=bf16,indexer=bf16        85888         0   10.994   11.258   85.888   90.060
glm-5              -                           61464         0    7.867    8.056   61.464   64.450
glm-5              kv=bf16                    100152         0   12.819   13.127  100.152  105.017
kimi-k3-article    -                           27648 217055232    3.756    3.841   27.865   29.208
kimi-k3            state=bf16                  27648 232316928    3.771    3.856   27.880   29.223
kimi-k3            -                           27648 449372160    3.988    4.073   28.097   29.440
kimi-k3            kv=fp8                      13824 449372160    2.219    2.261   14.273   14.945
kimi-k3            kv=fp8_ds_mla               15744 449372160    2.465    2.513   16.193   16.958
kimi-linear-48b    -                            8064  43417600    1.076    1.100    8.107    8.499
qwen3-next-80b     -                           24576  39518208    3.185    3.261   24.616   25.809
qwen3-next-80b     state=fp32                  24576  77266944    3.223    3.298   24.653   25.847
qwen3.5-397b       -                           30720 192061440    4.124    4.219   30.912   32.404
nemotron-h-56b     -                           40960 912605184    6.155    6.281   41.873   43.862
nemotron-3-nano    -                            6144  49082368    0.836    0.854    6.193    6.492
nemotron-3-super   -                            8192 170229760    1.219    1.244    8.362    8.760
nemotron-3-ultra   -                           12288 407961600    1.981    2.019   12.696   13.293
minimax-m1         -                           40960 146800640    5.390    5.516   41.107   43.096
minimax-m1         state=fp32                  40960 293601280    5.536    5.662   41.254   43.243
gpt-oss-120b       -                           36864   4718592    4.723    4.837   36.869   38.659
gpt-oss-20b        -                           24576   3145728    3.149    3.224   24.579   25.773
gemma-3-27b        -                           81920 436207616   10.922   11.174   82.356   86.336
mimo-v2-flash      -                           23040  25559040    2.975    3.045   23.066   24.185
deepseek-v4-pro    -                         5511.44  23270400    0.729    0.746    5.535    5.802
deepseek-v4-pro    indexer=fp4               5031.44  23270400    0.667    0.683    5.055    5.299
deepseek-v4-pro    kv=bf16,indexer=bf16         9848  26705920    1.287    1.318    9.875   10.353
deepseek-v4-flash  -                         3850.25  15420416    0.508    0.520    3.866    4.053
deepseek-v4-flash  indexer=fp4               3514.25  15420416    0.465    0.476    3.530    3.700
csa-hca-93         -                       8448.4375  35361792    1.117    1.143    8.484    8.894
gqa-93             -                          380928         0   48.759   49.929  380.928  399.432
glm-4.5            kv=fp8                     188416         0   24.117   24.696  188.416  197.568
kimi-k2            kv=fp8                      35136         0    4.497    4.605   35.136   36.843
";

/// `numerator / denominator` with as many decimals as `like` shows, rounded half up.
fn printed(numerator: u128, denominator: u128, like: &str) -> String {
    let decimals = like.split_once('.').map_or(0, |(_, d)| d.len());
    let factor = 10u128.pow(decimals as u32);
    let rounded = (2 * numerator * factor + denominator) / (2 * denominator);
    if decimals == 0 {
        return rounded.to_string();
    }
    format!("{}.{:0decimals$}", rounded / factor, rounded % factor)
}

/// `kv=fp8,state=bf16`, or `-` for none.
fn pairs(text: &str) -> Vec<(&str, &str)> {
    text.split(',')
        .filter_map(|pair| pair.split_once('='))
        .collect()
}

fn master() -> impl Iterator<Item = Vec<&'static str>> {
    let lines = MASTER.lines().filter(|line| !line.is_empty());
    lines.map(|line| line.split_whitespace().collect())
}

#[test]
fn every_row_of_the_master_table() {
    assert_eq!(master().count(), 40);
    for row in master() {
        let [name, changes, per_token, constant, gigabytes @ ..] = row.as_slice() else {
            panic!("a short row: {row:?}");
        };
        let f = model(name, &pairs(changes)).footprint;
        let growth = f.checked_growth().unwrap();
        assert_eq!(
            &printed(growth.bytes, growth.tokens, per_token),
            per_token,
            "{row:?}"
        );
        assert_eq!(&f.constant_bytes().to_string(), constant, "{row:?}");
        assert_eq!(gigabytes.len(), 4, "{row:?}");
        for (tokens, expected) in [128_000, 131_072, 1_000_000, 1 << 20]
            .into_iter()
            .zip(gigabytes)
        {
            let bytes = u128::from(f.bytes(tokens));
            assert_eq!(
                &printed(bytes, 1_000_000_000, expected),
                expected,
                "{row:?} at {tokens}"
            );
        }
    }
}

#[test]
fn every_catalogue_model_is_in_the_master_table_and_has_sources() {
    for name in catalogue() {
        let spec = lookup(name).unwrap();
        assert!(master().any(|row| row[0] == name), "{name} has no row");
        assert_eq!(spec.name, name);
        assert!(
            !spec.description.is_empty() && spec.description.len() < 120,
            "{name}"
        );
        assert!(spec.dtypes.source.is_some(), "{name}: dtypes");
        assert!(
            spec.groups.iter().all(|g| !g.sources().is_empty()),
            "{name}: groups"
        );
        assert!(
            spec.weights.as_ref().is_none_or(|w| w.source.is_some()),
            "{name}: weights"
        );
        assert!(
            spec.max_context.as_ref().is_none_or(|c| c.source.is_some()),
            "{name}: context"
        );
    }
}

#[test]
fn exact_bytes_of_the_articles_and_engines() {
    let all_mla = model("all-mla-93", &[]).footprint;
    assert_eq!(all_mla.bytes(128_000), 13_713_408_000);
    assert_eq!(all_mla.bytes(1_000_000), 107_136_000_000);
    let k3 = model("kimi-k3", &[]).footprint;
    assert_eq!(k3.kv_bytes(128_000), 3_538_944_000);
    assert_eq!(k3.kv_bytes(1 << 20), 28_991_029_248);
    // Convolution state is what the engine default has beyond the recurrent state in fp32.
    assert_eq!(k3.state_bytes, 434_110_464 + 15_261_696);
    assert_eq!(k3.snapshot_bytes(1), 449_372_160);
    let article = model("kimi-k3-article", &[]).footprint;
    assert_eq!(article.state_bytes, 217_055_232);
    assert_eq!(article.snapshot_bytes(20_000), 217_055_232);
    assert_eq!(50 * article.snapshot_bytes(20_000), 10_852_761_600);
    assert_eq!(model("llama-3.1-70b", &[]).footprint.bytes(1), 327_680);
    assert_eq!(
        model("deepseek-v3.2", &[]).footprint.bytes(1 << 20),
        50_402_951_168
    );
    // vLLM's blog: 83.9 GiB at 2^20 in bf16, 9.62 GiB for V4-Pro's entries.
    let v32 = model("deepseek-v3.2", &[("kv", "bf16"), ("indexer", "bf16")]).footprint;
    assert_eq!(printed(v32.bytes(1 << 20).into(), 1 << 30, "0.0"), "83.9");
    let pro = model("deepseek-v4-pro", &[("kv", "bf16"), ("indexer", "bf16")]).footprint;
    let entries: u64 = pro
        .entries
        .iter()
        .map(|e| e.bytes * ((1 << 20) / e.ratio))
        .sum();
    assert_eq!(printed(entries.into(), 1 << 30, "0.00"), "9.62");
    // GLM-4.7 in fp8: 23.0 GiB at 131,072.
    let glm = model("glm-4.5", &[("kv", "fp8")]).footprint;
    assert_eq!(glm.bytes(131_072), 23 << 30);
    // csa-hca-93: 46 x 716 / 4 + 47 x 584 / 128 bytes a token.
    let growth = model("csa-hca-93", &[]).footprint.checked_growth().unwrap();
    assert_eq!(
        growth.bytes * 128,
        (46 * 716 * 32 + 47 * 584) * growth.tokens
    );
}

/// What vLLM prints for GLM-5.2-like entries (`local-inference-lab/vllm#82`): 79 latents and 22
/// indexers are 54,728 B a token in fp8_ds_mla and 37,032 B in nvfp4_ds_mla.
#[test]
fn packed_entries_as_an_engine_prints_them() {
    let file = |kv: &str| {
        format!(
            "name: glm-5.2\ndtypes: {{kv: {kv}, indexer: fp8}}\ngroups:\n  - mla: {{layers: 79, latent: 512, rope: 64}}\n  \
             - indexer: {{layers: 22, dim: 128}}\n"
        )
    };
    for (kv, bytes) in [("fp8_ds_mla", 54_728), ("nvfp4_ds_mla", 37_032)] {
        let spec = fleetmem::memory::parse_model(&file(kv), "glm.yaml").unwrap();
        assert_eq!(
            spec.resolve(&Overrides::default(), "x")
                .unwrap()
                .footprint
                .bytes(1),
            bytes
        );
    }
}

#[test]
fn snapshots_are_worth_these_tokens() {
    let rows = [
        ("kimi-k3", "-", 16_253),
        ("kimi-k3", "state=bf16", 8_403),
        ("kimi-linear-48b", "-", 5_384),
        ("qwen3.5-397b", "-", 6_252),
        ("qwen3-next-80b", "state=fp32", 3_144),
        ("nemotron-h-56b", "-", 22_280),
        ("nemotron-3-nano", "-", 7_989),
        ("nemotron-3-super", "-", 20_780),
        ("nemotron-3-ultra", "-", 33_200),
        ("minimax-m1", "-", 3_584),
        ("all-mla-93", "-", 0),
    ];
    for (name, changes, tokens) in rows {
        assert_eq!(
            model(name, &pairs(changes)).footprint.snapshot_tokens(),
            Some(tokens),
            "{name}"
        );
    }
}

#[test]
fn checkpoints_store_windows_by_default_and_tails_if_asked() {
    let windows = 61 * 128 * 584;
    let tails = 30 * 81_920 + 31 * 524_288;
    let pro = model("deepseek-v4-pro", &[]).footprint;
    assert_eq!(pro.full_snapshot_bytes(), windows);
    assert_eq!(
        pro.snapshot_bytes(100),
        61 * 100 * 584,
        "a window is not full before its length"
    );
    let with = |checkpoint| {
        let overrides = Overrides {
            checkpoint: Some(checkpoint),
            ..Overrides::default()
        };
        lookup("deepseek-v4-pro")
            .unwrap()
            .resolve(&overrides, "x")
            .unwrap()
            .footprint
    };
    assert_eq!(
        with(Checkpoint {
            windows: true,
            tails: true
        })
        .full_snapshot_bytes(),
        windows + tails
    );
    assert_eq!(with(Checkpoint::NONE).full_snapshot_bytes(), 0);
    assert!(!with(Checkpoint::NONE).is_checkpointed());
    // Pure attention has nothing to store; sliding-window models store their windows.
    assert!(!model("llama-3.1-70b", &[]).footprint.is_checkpointed());
    assert_eq!(
        model("gpt-oss-120b", &[]).footprint.full_snapshot_bytes(),
        4_718_592
    );
    assert_eq!(
        model("gemma-3-27b", &[]).footprint.snapshot_bytes(1024),
        436_207_616
    );
}

#[test]
fn legends_name_data_types_in_short() {
    let text = |name, pairs| model(name, pairs).dtypes;
    assert_eq!(text("kimi-k3", &[]), "bf16 KV, fp32 state");
    assert_eq!(
        text("kimi-k3", &[("kv", "fp8"), ("conv", "fp32")]),
        "fp8 KV, fp32 state, fp32 conv"
    );
    assert_eq!(text("all-mla-93", &[]), "bf16 KV");
    assert_eq!(text("deepseek-v4-pro", &[]), "fp8 KV, fp8 indexer");
    assert_eq!(
        text("deepseek-v4-pro", &[("tail", "bf16")]),
        "fp8 KV, fp8 indexer, bf16 tail"
    );
}

#[test]
fn weights_are_part_of_a_model() {
    assert_eq!(model("kimi-k3", &[]).weights_bytes, 1_560_860_324_864);
    assert_eq!(model("gpt-oss-120b", &[]).weights_bytes, 65_248_815_744);
    assert_eq!(model("all-mla-93", &[]).weights_bytes, 0);
}

#[test]
fn labels_are_the_callers() {
    let spec = lookup("kimi-k3").unwrap();
    assert_eq!(
        spec.resolve(&overrides(&[]), "K3 in bf16").unwrap().label,
        "K3 in bf16"
    );
}
