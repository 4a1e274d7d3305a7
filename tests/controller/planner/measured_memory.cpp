#include "tests/controller/planner/measured_memory.h"

#include "controller/planner/block_work.h"
#include "proto/model/model_size.h"
#include "tests/controller/planner/run_settings.h"

namespace trainyard::planner {
namespace {

constexpr double kGibibyte = 1024.0 * 1024 * 1024;

// Each constant is determined by one row: per_logit by "8B x8, full, 32768", per_element by "8B
// x128, compiled", and slack by "8B x128" (kernels not compiled).
MemoryProfile Compiled() { return {.per_logit = 14.87, .per_element = 15.58}; }

MemoryProfile Eager() {
  MemoryProfile profile = Compiled();
  profile.slack = 5.4e9;
  return profile;
}

}  // namespace

std::vector<MemoryRun> TorchtitanMemory() {
  std::vector<MemoryRun> runs;
  const auto add = [&runs](const char* name, const RunSettings& run, const MemoryProfile& profile,
                           double gibibytes, bool is_fitted) {
    runs.push_back({name, run.config, profile, gibibytes * kGibibyte / 1e9, is_fitted});
  };
  const ModelConfig model = Llama(32, 4096, 14336, 32);
  // Some operations are recomputed. The fitted per_element already accounts for recomputation.
  const RunSettings small = Settings(model, 8192, 16, 2).Dp(8).Zero(3);
  const RunSettings large = Settings(model, 8192, 256, 2).Dp(128).Zero(3);
  add("8B x8", small, Eager(), 82.4, false);
  add("8B x8, compiled", small, Compiled(), 77.0, false);
  add("8B x8, compiled, FP8", small, Compiled(), 76.8, false);
  add("8B x128", large, Eager(), 67.0, true);
  add("8B x128, compiled", large, Compiled(), 62.0, true);
  add("8B x128, compiled, FP8", large, Compiled(), 61.8, false);
  const auto longer = [&model](int64_t parts) {
    return Settings(model, 32768 * parts, 8, 1).Dp(8 / parts).Cp(parts).Zero(3).Full();
  };
  add("8B x8, full, 32768", longer(1), Compiled(), 83.9, true);
  add("8B x8, full, 65536, CP2", longer(2), Compiled(), 84.2, false);
  add("8B x8, full, 131072, CP4", longer(4), Compiled(), 84.0, false);
  add("8B x8, full, 262144, CP8", longer(8), Compiled(), 84.5, false);
  const RunSettings wide =
      Settings(Llama(80, 8192, 28672, 64), 8192, 512, 16).Tp(8).Dp(32).Zero(3).Full();
  add("70B x256, TP8, full", wide, Compiled(), 71.9, false);
  add("70B x256, TP8, full, asynchronous TP", wide, Compiled(), 67.6, false);
  return runs;
}

// Returns the additional bytes that tensor parallelism needs if the ranks divide the rows among
// themselves between the matrix products. These bytes are added to a rank's part of a block and of
// the logits. The inputs of attention, feed-forward half and head are gathered in bf16 and kept for
// their weight gradients. torch.distributed.tensor.parallel.loss needs one more fp32 copy of the
// logits, because it computes their gradient in two steps.
double GatheredBytes(const BlockWork& work) {
  if (work.norm_rows == work.rows) return 0;
  return 3 * 2 * work.rows * work.hidden + 4 * work.rows * work.vocabulary;
}

// Returns the predicted memory at the end of the forward pass: the state, two whole blocks of
// weights, the activations that the blocks keep, and the logits of the head. With full
// recomputation, each block keeps only its input, and one block at a time is recomputed.
double PredictedGigabytes(const MemoryRun& run) {
  const RunConfig& config = run.config;
  const LayoutConfig& layout = config.layout;
  const BlockWork work = WorkOf(config);
  const auto ranks = static_cast<double>(layout.tp * layout.cp * layout.dp);
  const auto layers = static_cast<double>(config.model.num_layers);
  const double elements = work.norm_rows * work.hidden;
  const double of_block = run.profile.per_element * elements;
  const bool is_full = layout.recompute == Recompute::kFull;
  const double kept = is_full ? layers * 2 * elements + of_block : layers * of_block;
  const double bytes =
      run.profile.state * static_cast<double>(ParameterCount(config.model)) / ranks +
      2 * 2 * work.BlockParameters() + kept + run.profile.per_logit * work.rows * work.vocabulary +
      GatheredBytes(work) + run.profile.slack;
  return bytes / 1e9;
}

}  // namespace trainyard::planner
