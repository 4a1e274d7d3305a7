#include "tests/controller/planner/measured_runs.h"

#include "controller/planner/step_time.h"
#include "tests/controller/planner/run_settings.h"

namespace trainyard::planner {
namespace {

// The rates use the paper's operation count, which includes recomputation: 96 B s l h^2 (1 + s
// / 6h + V / 16lh).
void AddPipelineTensorRuns(MeasuredSet& set) {
  struct Row {
    const char* name;
    int64_t layers, hidden, heads, pp, batch, devices;
    double teraflops;  // Per second and device.
  };
  constexpr Row kRows[] = {
      {"175B", 96, 12288, 96, 12, 1536, 384, 153},
      {"175B", 96, 12288, 96, 12, 1536, 768, 149},
      {"175B", 96, 12288, 96, 12, 1536, 1536, 141},
      {"530B", 105, 20480, 128, 35, 2240, 560, 171},
      {"530B", 105, 20480, 128, 35, 2240, 1120, 167},
      {"530B", 105, 20480, 128, 35, 2240, 2240, 159},
  };
  for (const Row& row : kRows) {
    RunSettings run = Settings(Gpt(row.layers, row.hidden, row.heads, 51200), 2048, row.batch, 1)
                          .Tp(8)
                          .Pp(row.pp)
                          .Dp(row.devices / row.pp / 8)
                          .Full();
    run.config.layout.sequence_parallel = false;
    const auto layers = static_cast<double>(row.layers), hidden = static_cast<double>(row.hidden);
    const double operations = 96.0 * static_cast<double>(row.batch) * 2048 * layers * hidden *
                              hidden * (1 + 2048 / (6 * hidden) + 51200 / (16 * layers * hidden));
    set.runs.push_back({std::string(row.name) + " PTD-P x" + std::to_string(row.devices),
                        run.config, ClusterOf("A100-SXM4-80GB", run),
                        operations / (static_cast<double>(row.devices) * row.teraflops * 1e12),
                        false});
  }
}

ModelConfig Gpt2(int64_t layers, int64_t hidden, int64_t heads) {
  ModelConfig model = Gpt(layers, hidden, heads, 50304);
  model.max_position_embeddings = 1024;
  return model;
}

// The model shape of tests/gpu/model_shapes.py.
ModelConfig Qwen3Small() {
  ModelConfig model = Gated(28, 1024, 3072, 16, 151936, 8);
  model.kv_channels = 128;
  model.qk_layernorm = true;
  model.untie_embeddings_and_output_weights = false;
  return model;
}

ModelConfig OlmoSmall() {
  ModelConfig model = Gated(16, 2048, 8192, 16, 50304);
  model.normalization = Normalization::kLayerNorm;
  model.norm_weights = false;
  model.untie_embeddings_and_output_weights = false;
  return model;
}

ModelConfig NeoxSmall() {
  ModelConfig model = Gated(24, 2048, 8192, 16, 50304);
  model.normalization = Normalization::kLayerNorm;
  model.add_bias_linear = true;
  model.activation = Activation::kGelu;
  model.rotary_percent = 0.25;
  model.parallel_residual = true;
  return model;
}

}  // namespace

MeasuredSet TrainyardRuns() {
  const ModelConfig model = Llama(18, 2048, 7168, 16);
  MeasuredSet set = {
      "trainyard-trainer, H200", "trainer/README.md, 2026-11-23", TrainyardProfile(), true, {}};
  const auto add = [&set](const char* name, RunSettings run, double seconds, bool is_fitted) {
    run.per_node =
        run.config.layout.tp * run.config.layout.cp * run.config.layout.pp * run.config.layout.dp;
    set.runs.push_back({name, run.config, ClusterOf("H200", run), seconds, is_fitted});
  };
  // Adds a run on two GPUs with 16 samples of 2,048 positions each.
  const auto pair = [&model](int64_t micro_batch) {
    return Settings(model, 2048, 32, micro_batch);
  };
  add("1.5B", Settings(model, 2048, 16, 16), 0.459, true);
  add("1.5B, 24 samples", Settings(model, 2048, 24, 24), 0.678, false);
  add("8B, moments bf16", Settings(Llama(32, 4096, 14336, 32), 8192, 8, 1).NarrowMoments(), 5.786,
      false);
  add("162M", Settings(Gated(12, 768, 2048, 12, 50304), 1024, 32, 32), 0.0568, false);
  add("1.5B x2", pair(16).Dp(2), 0.474, false);
  add("1.5B x2, ZeRO 1", pair(16).Dp(2).Zero(1), 0.467, false);
  add("1.5B x2, ZeRO 2", pair(16).Dp(2).Zero(2), 0.467, false);
  add("1.5B x2, ZeRO 3", pair(16).Dp(2).Zero(3), 0.476, false);
  add("1.5B, PP2 zero-bubble", pair(4).Pp(2).ZeroBubble(), 0.508, true);
  add("1.5B, PP2 1F1B", pair(4).Pp(2), 0.520, true);
  add("1.5B, PP2, 3 chunks", pair(4).Pp(2).Vpp(3), 0.533, false);
  add("1.5B, CP2", pair(16).Cp(2), 0.549, true);
  add("1.5B, TP2", pair(16).Tp(2), 0.560, true);
  add("8B x2, ZeRO 1", Settings(Llama(32, 4096, 14336, 32), 8192, 8, 1).Dp(2).Zero(1), 2.931,
      false);
  return set;
}

MeasuredSet LaterTrainyardRuns() {
  MeasuredSet set = {"trainyard-trainer, H200, after the formulas",
                     "tests/gpu/bench.py, 2026-11-23",
                     TrainyardProfile(),
                     true,
                     {}};
  const auto add = [&set](const char* name, RunSettings run, double seconds, double gigabytes) {
    run.per_node = 1;
    set.runs.push_back({name, run.config, ClusterOf("H200", run), seconds, false, gigabytes});
  };
  const ModelConfig llama = Llama(18, 2048, 7168, 16);
  add("1.5B, 2 samples", Settings(llama, 2048, 16, 2), 0.4839, 31.1);
  add("1.5B, 4 samples", Settings(llama, 2048, 16, 4), 0.4689, 37.5);
  add("1.5B, full", Settings(llama, 2048, 16, 16).Full(), 0.5741, 30.8);
  RunSettings selective = Settings(llama, 2048, 16, 16);
  selective.config.layout.recompute = Recompute::kSelective;
  add("1.5B, selective", selective, 0.4611, 56.3);
  add("1.5B, 4096", Settings(llama, 4096, 8, 8), 0.4932, 70.6);
  add("1.5B, 8192", Settings(llama, 8192, 4, 4), 0.5653, 74.9);
  set.runs.back().is_fitted = true;
  add("1.5B, 32768, full", Settings(llama, 32768, 1, 1).Full(), 1.2203, 63.0);
  ModelConfig three = Llama(28, 3072, 8192, 24);
  three.untie_embeddings_and_output_weights = false;
  add("3B, 4096", Settings(three, 4096, 8, 4), 1.2132, 95.7);
  add("7B, 4096, moments bf16",
      Settings(Gated(32, 4096, 11008, 32, 32000), 4096, 8, 1).NarrowMoments(), 2.4146, 99.1);
  add("GPT-2 350M", Settings(Gpt2(24, 1024, 16), 1024, 32, 32), 0.1497, 32.5);
  add("GPT-2 1.5B", Settings(Gpt2(48, 1600, 25), 1024, 16, 16), 0.3151, 66.3);
  add("GPT-2 124M", Settings(Gpt2(12, 768, 12), 1024, 32, 32), 0.0565, 12.7);
  add("Qwen3 0.6B", Settings(Qwen3Small(), 2048, 16, 16), 0.2896, 53.7);
  add("OLMo 1B", Settings(OlmoSmall(), 2048, 16, 16), 0.4215, 63.1);
  add("GPT-NeoX 1.4B", Settings(NeoxSmall(), 2048, 16, 16), 0.492, 72.8);
  add("1.5B, 16384", Settings(llama, 16384, 2, 2), 0.6889, 83.5);
  add("3B, 8192", Settings(three, 8192, 4, 2), 1.3489, 98.9);
  add("7B, 8192, full, moments bf16",
      Settings(Gated(32, 4096, 11008, 32, 32000), 8192, 4, 1).NarrowMoments().Full(), 3.3771, 88.1);
  add("GPT-2 760M", Settings(Gpt2(36, 1280, 20), 1024, 16, 16), 0.1597, 37.6);
  return set;
}

MeasuredSet FourGpuTrainyardRuns() {
  MeasuredSet set = {"trainyard-trainer, four H200",
                     "tests/gpu/bench.py, 2026-11-27",
                     TrainyardProfile(),
                     true,
                     {}};
  // Adds a run with 64 samples of 2,048 positions.
  const auto add = [&set](const char* name, RunSettings run, double seconds, double gigabytes,
                          bool is_fitted = false) {
    run.per_node = 4;
    set.runs.push_back({name, run.config, ClusterOf("H200", run), seconds, is_fitted, gigabytes});
  };
  const auto four = [](int64_t micro_batch) {
    return Settings(Llama(18, 2048, 7168, 16), 2048, 64, micro_batch);
  };
  add("1.5B, ZeRO 1", four(16).Dp(4).Zero(1), 0.4714, 58.0, true);
  add("1.5B, ZeRO 3", four(16).Dp(4).Zero(3), 0.4793, 52.6);
  add("1.5B, ZeRO 1, 4 samples", four(4).Dp(4).Zero(1), 0.4848, 25.9);
  add("1.5B, TP2, ZeRO 1", four(16).Tp(2).Dp(2).Zero(1), 0.5683, 31.1);
  add("1.5B, CP2, ZeRO 1", four(16).Cp(2).Dp(2).Zero(1), 0.5557, 36.6);
  add("1.5B, PP2, ZeRO 1", four(4).Pp(2).Dp(2).Zero(1), 0.5287, 23.2);
  add("1.5B, TP4", four(16).Tp(4), 0.678, 17.7, true);
  return set;
}

MeasuredSet TrainyardH100Runs() {
  MeasuredSet set = {
      "trainyard-trainer, H100", "tests/gpu/bench.py, 2026-11-23", TrainyardProfile(), true, {}};
  const auto add = [&set](const char* name, RunSettings run, double seconds, double gigabytes) {
    run.per_node = 1;
    set.runs.push_back({name, run.config, ClusterOf("H100", run), seconds, false, gigabytes});
  };
  const ModelConfig llama = Llama(18, 2048, 7168, 16);
  add("1.5B, 4 samples", Settings(llama, 2048, 16, 4), 0.4728, 37.5);
  add("1.5B, full", Settings(llama, 2048, 16, 16).Full(), 0.5786, 30.8);
  add("1.5B, 8192", Settings(llama, 8192, 4, 4), 0.564, 74.9);
  add("GPT-2 350M", Settings(Gpt2(24, 1024, 16), 1024, 32, 32), 0.1547, 32.5);
  add("Qwen3 0.6B", Settings(Qwen3Small(), 2048, 16, 16), 0.2943, 53.7);
  return set;
}

MeasuredSet MegatronA100Runs() {
  MeasuredSet set = {
      "Megatron-LM, A100 80 GB",
      "arXiv 2205.05198, table 5 (rows 22B to 1T); arXiv 2104.04473, table 2 (PTD-P)",
      MegatronA100Profile(),
      false,
      {}};
  struct Row {
    const char* name;
    int64_t layers, hidden, heads, pp, vpp, batch, micro_batch;
    double full, selective;
    bool is_full_fitted, is_selective_fitted;
  };
  constexpr Row kRows[] = {
      {"22B", 48, 6144, 64, 1, 1, 4, 4, 1.42, 1.10, true, true},
      {"175B", 96, 12288, 96, 8, 3, 64, 1, 18.13, 13.75, true, false},
      {"530B", 105, 20480, 128, 35, 3, 280, 1, 49.05, 37.83, false, false},
      {"1T", 128, 25600, 160, 64, 1, 512, 1, 94.42, 71.49, false, false},
  };
  for (const Row& row : kRows) {
    RunSettings run =
        Settings(Gpt(row.layers, row.hidden, row.heads, 51200), 2048, row.batch, row.micro_batch)
            .Tp(8)
            .Pp(row.pp)
            .Vpp(row.vpp)
            .Full();
    run.config.layout.sequence_parallel = false;
    const Cluster cluster = ClusterOf("A100-SXM4-80GB", run);
    const std::string name = row.name;
    set.runs.push_back({name + " full", run.config, cluster, row.full, row.is_full_fitted});
    run.config.layout.sequence_parallel = true;
    run.config.layout.recompute = Recompute::kSelective;
    set.runs.push_back(
        {name + " selective", run.config, cluster, row.selective, row.is_selective_fitted});
  }
  AddPipelineTensorRuns(set);
  return set;
}

MeasuredSet MegatronH100Runs() {
  MeasuredSet set = {"NeMo 24.09 to 24.12, H100",
                     "NVIDIA/dgxc-benchmarking at 143b90d and 0b71cfd: llama3.1/README_8b.md, "
                     "_70b.md, _405b.md, nemotron/README_15b.md, _340b.md, "
                     "nemo_megatron/README_175b.md",
                     MegatronH100Profile(),
                     false,
                     {}};
  // The step time in seconds for a number of data-parallel ranks. The batch grows with the number
  // of ranks.
  struct Point {
    int64_t dp;
    double seconds;
    bool is_fitted;
  };
  const auto add = [&set](const std::string& name, const RunSettings& one, int64_t passes,
                          const std::vector<Point>& points) {
    for (const Point& point : points) {
      RunSettings run = one.Dp(point.dp).Zero(point.dp > 1 ? 1 : 0);
      run.config.train.global_batch = point.dp * passes * run.config.layout.micro_batch;
      const Cluster cluster = ClusterOf("H100", run);
      set.runs.push_back({name + " x" + std::to_string(cluster.devices()), run.config, cluster,
                          point.seconds, point.is_fitted});
    }
  };
  add("8B", Settings(Llama(32, 4096, 14336, 32), 8192, 1, 1).Cp(2), 32,
      {{4, 12.91, true}, {8, 13.00, false}, {16, 13.05, false}, {64, 13.10, true}});
  add("15B", Settings(Nemotron(32, 6144, 24576, 48), 4096, 1, 4).Tp(4), 4,
      {{4, 2.812, true}, {16, 2.845, false}, {128, 2.875, false}, {512, 2.887, false}});
  add("70B", Settings(Llama(80, 8192, 28672, 64), 8192, 1, 1).Tp(4).Cp(2).Pp(4).Vpp(5), 64,
      {{2, 14.61, false}, {8, 14.72, false}, {64, 14.84, false}});
  add("175B", Settings(Gpt(96, 12288, 96, 51200), 2048, 1, 1).Tp(4).Pp(8).Vpp(12), 64,
      {{4, 8.309, true}, {16, 8.42, false}, {64, 8.49, false}});
  add("340B", Settings(Nemotron(96, 18432, 73728, 96), 4096, 1, 1).Tp(8).Pp(8).Vpp(12), 16,
      {{2, 4.61, false}, {8, 4.70, false}, {32, 4.84, false}});
  // GPT-2's vocabulary, padded.
  const auto large = [](int64_t layers) {
    return Settings(Gated(layers, 16384, 53248, 128, 51200, 8), 8192, 1, 1).Tp(8).Cp(2);
  };
  add("405B, 7 layers", large(7), 63, {{2, 8.85, true}});
  add("405B, 21 layers", large(21).Pp(3).Vpp(7), 63, {{2, 8.75, false}});
  add("405B, 42 layers", large(42).Pp(3).Vpp(7), 63, {{4, 16.93, false}});
  add("405B", large(126).Pp(9).Vpp(7), 63,
      {{4, 17.20, false}, {8, 17.52, false}, {16, 17.62, false}});
  return set;
}

MeasuredSet FoundryRuns() {
  MeasuredSet set = {
      "llm-foundry, A100 80 GB", "mosaicml/llm-foundry at 061f2c7", FoundryProfile(), false, {}};
  struct Row {
    const char* name;
    int64_t layers, hidden, heads, length, devices, micro_batch, rounds;
    bool recomputes;
    double tokens;  // Per second and device.
    bool is_fitted;
  };
  constexpr Row kRows[] = {
      {"350M", 24, 1024, 16, 2048, 8, 32, 2, false, 58782, false},
      {"760M", 24, 1536, 12, 2048, 8, 24, 2, false, 32434, false},
      {"1B", 24, 2048, 16, 2048, 8, 14, 4, false, 20513, true},
      {"1B, 512", 24, 2048, 16, 512, 8, 56, 4, false, 23148, false},
      {"1B, 8192", 24, 2048, 16, 8192, 8, 3, 4, false, 13814, true},
      {"1B, 32768", 24, 2048, 16, 32768, 8, 1, 4, false, 6275, false},
      {"3B", 32, 2560, 20, 2048, 8, 10, 2, false, 10811, false},
      {"3B, 512", 32, 2560, 20, 512, 8, 40, 6, false, 12127, false},
      {"3B, 4096", 32, 2560, 20, 4096, 8, 5, 6, false, 9457, false},
      {"3B, 8192", 32, 2560, 20, 8192, 8, 3, 6, false, 7695, false},
      {"3B, 16384", 32, 2560, 20, 16384, 8, 1, 6, false, 5529, false},
      {"7B", 32, 4096, 32, 2048, 8, 6, 2, false, 4641, true},
      {"7B, 1024, recomputed", 32, 4096, 32, 1024, 8, 64, 2, true, 4357, true},
      {"7B, 4096, recomputed", 32, 4096, 32, 4096, 8, 16, 2, true, 3684, false},
      {"7B, 8192, recomputed", 32, 4096, 32, 8192, 8, 8, 2, true, 3206, false},
      {"13B", 40, 5120, 40, 2048, 8, 2, 3, false, 2262, true},
      {"13B, 1024, recomputed", 40, 5120, 40, 1024, 8, 40, 3, true, 2330, false},
      {"13B, 4096, recomputed", 40, 5120, 40, 4096, 8, 10, 3, true, 2060, false},
      {"30B, 2048, recomputed", 48, 7168, 56, 2048, 8, 3, 21, true, 916, false},
      {"30B, 1024, recomputed", 48, 7168, 56, 1024, 8, 6, 21, true, 946, false},
      {"70B, 2048, recomputed", 80, 8192, 64, 2048, 64, 8, 4, true, 410, false},
  };
  for (const Row& row : kRows) {
    const int64_t batch = row.devices * row.micro_batch * row.rounds;
    RunSettings run =
        Settings(Gpt(row.layers, row.hidden, row.heads, 50368), row.length, batch, row.micro_batch)
            .Dp(row.devices)
            .Zero(3);
    run.config.model.add_bias_linear = false;
    if (row.recomputes) run = run.Full();
    const double tokens = static_cast<double>(row.micro_batch * row.rounds * row.length);
    set.runs.push_back({row.name, run.config, ClusterOf("A100-SXM4-80GB", run), tokens / row.tokens,
                        row.is_fitted});
  }
  return set;
}

double PredictedSeconds(const MeasuredSet& set, const MeasuredRun& run) {
  return SecondsOfStep(run.config, PlanPass(run.config, run.cluster, set.profile),
                       LoadsOfStages(run.config, set.balances_head), run.cluster, set.profile)
      .Total();
}

}  // namespace trainyard::planner
