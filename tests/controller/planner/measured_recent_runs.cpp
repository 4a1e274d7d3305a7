// Runs of trainyard-trainer that were measured again after later work on the trainer.
#include "tests/controller/planner/expert_models.h"
#include "tests/controller/planner/measured_runs.h"
#include "tests/controller/planner/run_settings.h"

namespace trainyard::planner {

MeasuredSet RecentTrainyardRuns() {
  MeasuredSet set = {"trainyard-trainer, H200, newest",
                     "trainer/README.md, 2026-11-29",
                     TrainyardProfile(),
                     true,
                     {}};
  const auto add = [&set](const char* name, RunSettings run, double seconds, double gigabytes,
                          bool is_fitted = false) {
    const LayoutConfig& layout = run.config.layout;
    run.per_node = layout.tp * layout.cp * layout.pp * layout.dp;
    set.runs.push_back({name, run.config, ClusterOf("H200", run), seconds, is_fitted, gigabytes});
  };
  const auto llama = [](int64_t batch) {
    return Settings(Llama(18, 2048, 7168, 16), 2048, batch, 16);
  };
  add("1.5B", llama(16), 0.4478, 69.6);
  add("1.5B x4, ZeRO 1", llama(64).Dp(4).Zero(1), 0.4612, 58.0);
  add("1.5B x4, ZeRO 2", llama(64).Dp(4).Zero(2), 0.4613, 54.4);
  add("1.5B x4, ZeRO 3", llama(64).Dp(4).Zero(3), 0.4673, 52.6);
  add("1.5B, TP2", llama(32).Tp(2), 0.5594, 35.0);
  add("1.5B, TP4", llama(64).Tp(4), 0.6709, 17.7);
  add("1.5B, CP2", llama(32).Cp(2), 0.5550, 48.2);
  add("1.5B, FP8", llama(16).Fp8(), 0.3377, 71.6);
  add("8B x4, FP8, ZeRO 1", Settings(Llama(32, 4096, 14336, 32), 8192, 16, 1).Dp(4).Zero(1).Fp8(),
      2.050, 122.7);
  const auto experts = [](const ModelConfig& model, int64_t length, int64_t batch,
                          int64_t micro_batch) {
    return Settings(model, length, batch, micro_batch).Dp(4).Ep(4).WholeExperts().Zero(1);
  };
  add("M8 x4, EP4", experts(M8(), 2048, 64, 16), 0.3341, 47.1);
  add("D64 x4, EP4", experts(D64(), 4096, 32, 8), 0.3075, 45.4);
  return set;
}

MeasuredSet RecentH100Runs() {
  MeasuredSet set = {"trainyard-trainer, H100, newest",
                     "tests/gpu/bench.py, 2026-11-28",
                     TrainyardProfile(),
                     true,
                     {}};
  // The measured rate is that of all GPUs, in tokens/s.
  const auto add = [&set](const char* name, RunSettings run, double rate, double gigabytes,
                          bool is_fitted = false) {
    const LayoutConfig& layout = run.config.layout;
    run.per_node = layout.tp * layout.cp * layout.pp * layout.dp;
    const auto tokens =
        static_cast<double>(run.config.train.global_batch * run.config.train.seq_length);
    set.runs.push_back(
        {name, run.config, ClusterOf("H100", run), tokens / rate, is_fitted, gigabytes});
  };
  const auto llama = [](int64_t batch) {
    return Settings(Llama(18, 2048, 7168, 16), 2048, batch, 16);
  };
  add("1.5B", llama(16), 70492, 69.6, true);
  add("162M", Settings(Gated(12, 768, 2048, 12, 50304), 1024, 32, 32), 545000, 13.3);
  add("1.5B x4, ZeRO 1", llama(64).Dp(4).Zero(1), 273989, 58.0);
  add("1.5B, TP4", llama(64).Tp(4), 188784, 17.7);
  return set;
}

}  // namespace trainyard::planner
