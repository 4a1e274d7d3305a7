#include "tests/controller/planner/measured_runs.h"
#include "tests/controller/planner/run_settings.h"

namespace trainyard::planner {
namespace {

ModelConfig Qwen3(int64_t layers, int64_t hidden, int64_t heads, int64_t width) {
  ModelConfig model = WithExperts(Gated(layers, hidden, width, heads, 151936, 4), 128, 8, width);
  model.kv_channels = 128;
  model.qk_layernorm = true;
  return model;
}

ModelConfig DeepSeek() {
  ModelConfig model =
      WithExperts(WithLatentAttention(Gated(61, 7168, 18432, 128, 129280)), 256, 8, 2048);
  model.moe_shared_expert_intermediate_size = 2048;
  model.moe_dense_layers = 3;
  return model;
}

}  // namespace

MeasuredSet PlannedFeatureH100Runs() {
  MeasuredSet set = {"NeMo 25.07 to 26.02, H100",
                     "NVIDIA-NeMo/Megatron-Bridge at 0a25f91, docs/performance-summary-archive.md; "
                     "NVIDIA/dgxc-benchmarking at 1f6d9f4 and 14fb6ae, grok1, deepseek_v3",
                     MegatronH100Profile(),
                     false,
                     {}};
  const auto add = [&set](const std::string& name, RunSettings run, double seconds) {
    const LayoutConfig& layout = run.config.layout;
    if (layout.zero == 0) run = run.Zero(layout.dp * layout.cp > 1 ? 1 : 0);
    set.runs.push_back({name, run.config, ClusterOf("H100", run), seconds});
  };
  // `rate` is in tokens per second per GPU.
  const auto add_rate = [&add](const std::string& name, const RunSettings& run, double rate) {
    const LayoutConfig& layout = run.config.layout;
    const auto ranks = static_cast<double>(layout.tp * layout.cp * layout.dp * layout.pp);
    const auto tokens =
        static_cast<double>(run.config.train.global_batch * run.config.train.seq_length);
    add(name, run, tokens / ranks / rate);
  };
  const ModelConfig llama70 = Llama(80, 8192, 28672, 64), llama405 = Llama(126, 16384, 53248, 128);
  const auto large = [&llama405](int64_t batch) {
    return Settings(llama405, 8192, batch, 1).Tp(8).Cp(2).Pp(8).Vpp(8).Dp(8);
  };
  add_rate("8B FP8, sharded x8",
           Settings(Llama(32, 4096, 14336, 32), 8192, 128, 1).Dp(8).Zero(3).Fp8(), 14451);
  add_rate("70B FP8 x64", Settings(llama70, 8192, 128, 1).Tp(4).Pp(8).Vpp(5).Dp(2).Fp8(), 1602);
  add_rate("70B FP8, batch 256 x64", Settings(llama70, 8192, 256, 1).Tp(4).Pp(8).Vpp(5).Dp(2).Fp8(),
           1621);
  add_rate("405B FP8 x1024", large(512).Fp8(), 292);
  add_rate("405B FP8, batch 1536 x1024", large(1536).Fp8(), 311);
  const ModelConfig grok = WithExperts(Gated(64, 6144, 32768, 48, 128256, 8), 8, 2, 32768);
  const RunSettings grok_run =
      Settings(grok, 8192, 1024, 1).Tp(4).Cp(2).Pp(8).Vpp(8).Dp(8).Ep(8).WholeExperts();
  add("Grok 1 314B bf16 x512", grok_run, 15.933);
  add("Grok 1 314B FP8 x512", grok_run.Fp8(), 13.433);
  const RunSettings deep =
      Settings(DeepSeek(), 4096, 8192, 1).Tp(2).Ep(64).WholeExperts().Selective();
  add("DeepSeek-V3 bf16 x1024", deep.Pp(16).Dp(32), 52.04);
  add_rate("DeepSeek-V3 FP8 x1024", deep.Pp(8).Vpp(4).Dp(64).Fp8(), 1297);
  const RunSettings small_qwen = Settings(Qwen3(48, 2048, 32, 768), 4096, 512, 2).WholeExperts();
  add_rate("Qwen3 30B-A3B FP8 x16", small_qwen.Pp(2).Vpp(12).Dp(8).Ep(8).Fp8(), 5275);
  const RunSettings large_qwen = Settings(Qwen3(94, 4096, 64, 1536), 4096, 2048, 1).WholeExperts();
  add_rate("Qwen3 235B-A22B FP8 x256", large_qwen.Tp(2).Pp(8).Vpp(4).Dp(16).Ep(32).Fp8(), 1575);
  return set;
}

}  // namespace trainyard::planner
