#include "proto/memory/memory_advice.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "proto/rules/run_rules.h"

namespace trainyard {
namespace {

double Predicted(const RunConfig& config) { return PredictTrainingMemory(config).Total(); }

bool Fits(const RunConfig& config, double limit) {
  return PredictTrainingMemory(config).Required() <= limit;
}

// Returns the largest micro-batch that fits, divides a rank's share of every batch, and is not
// larger than the current micro-batch. Returns 1 if there is none.
int64_t LargestMicroBatch(RunConfig config, double limit) {
  const TrainConfig& train = config.train;
  // A common divisor of all batch sizes: it divides global_batch and, with a ramp-up, the start and
  // the increment.
  const int64_t batch = std::gcd(train.global_batch,
                                 std::gcd(train.rampup_batch_start, train.rampup_batch_increment));
  const int64_t share = batch / std::max<int64_t>(config.layout.dp, 1);
  int64_t& micro_batch = config.layout.micro_batch;
  for (; micro_batch > 1; --micro_batch) {
    if (share % micro_batch == 0 && Fits(config, limit)) break;
  }
  return micro_batch;
}

bool HasWideMoments(const OptimizerConfig& optimizer) {
  return optimizer.exp_avg_dtype != Precision::kBf16 ||
         optimizer.exp_avg_sq_dtype != Precision::kBf16;
}

void NarrowMoments(OptimizerConfig& optimizer) {
  optimizer.exp_avg_dtype = optimizer.exp_avg_sq_dtype = Precision::kBf16;
}

bool CanShardState(const LayoutConfig& layout) {
  return layout.dp > 1 && !ShardsOptimizerState(layout);
}

// True if attention needs less memory when its result may vary bitwise between runs.
bool SavesByVaryingBits(const RunConfig& config) {
  RunConfig changed = config;
  changed.train.deterministic = false;
  return config.train.deterministic && Predicted(changed) < Predicted(config);
}

constexpr char kVaryBits[] = "train.deterministic to false (runs then differ in their last bits)";
constexpr char kShardState[] = "layout.zero to 1";
constexpr char kFullRecompute[] = "layout.recompute to full";
constexpr char kNarrowMoments[] = "optimizer.exp_avg_dtype and optimizer.exp_avg_sq_dtype to bf16";

std::string MicroBatchChange(const RunConfig& config) {
  return "layout.micro_batch to " + std::to_string(config.layout.micro_batch);
}

std::vector<MemoryRemedy> SingleRemedies(const RunConfig& config, double limit) {
  std::vector<MemoryRemedy> remedies;
  const auto consider = [&](const std::string& change, const RunConfig& changed) {
    if (Fits(changed, limit)) remedies.push_back({change, Predicted(changed)});
  };
  RunConfig changed = config;
  changed.layout.zero = 1;
  if (CanShardState(config.layout)) consider(kShardState, changed);
  changed = config;
  changed.train.deterministic = false;
  if (SavesByVaryingBits(config)) consider(kVaryBits, changed);
  changed = config;
  changed.layout.micro_batch = LargestMicroBatch(config, limit);
  if (!(changed == config)) consider(MicroBatchChange(changed), changed);
  changed = config;
  changed.layout.recompute = Recompute::kSelective;
  if (config.layout.recompute == Recompute::kNone) {
    consider("layout.recompute to selective", changed);
  }
  changed.layout.recompute = Recompute::kFull;
  if (!(changed == config)) consider(kFullRecompute, changed);
  changed = config;
  NarrowMoments(changed.optimizer);
  if (HasWideMoments(config.optimizer)) consider(kNarrowMoments, changed);
  return remedies;
}

// Keeps the micro-batch as large as possible: reduces it only after sharding, recomputation and
// smaller moments have been tried. Nondeterministic attention comes last.
std::vector<MemoryRemedy> JointRemedy(const RunConfig& config, double limit) {
  RunConfig changed = config;
  std::string change;
  const auto add = [&change](const std::string& more) {
    change += (change.empty() ? "" : ", ") + more;
  };
  if (CanShardState(config.layout)) {
    add(kShardState);
    changed.layout.zero = 1;
  }
  if (config.layout.recompute != Recompute::kFull) add(kFullRecompute);
  changed.layout.recompute = Recompute::kFull;
  if (HasWideMoments(config.optimizer)) add(kNarrowMoments);
  NarrowMoments(changed.optimizer);
  RunConfig smaller = changed;
  smaller.layout.micro_batch = LargestMicroBatch(changed, limit);
  if (!Fits(smaller, limit) && SavesByVaryingBits(changed)) {
    add(kVaryBits);
    changed.train.deterministic = false;
  }
  changed.layout.micro_batch = LargestMicroBatch(changed, limit);
  if (changed.layout.micro_batch != config.layout.micro_batch) add(MicroBatchChange(changed));
  if (!Fits(changed, limit)) return {};
  return {{change, Predicted(changed)}};
}

}  // namespace

std::string GigabytesText(double bytes) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.1f GB", bytes / 1e9);
  return text;
}

std::string MemoryText(const MemoryPrediction& prediction) {
  return GigabytesText(prediction.Total()) + " (weights " + GigabytesText(prediction.weights) +
         ", gradients " + GigabytesText(prediction.gradients) + ", moments " +
         GigabytesText(prediction.moments) + ", saved activations " +
         GigabytesText(prediction.activations) +
         (prediction.dispatch > 0 ? ", expert inputs " + GigabytesText(prediction.dispatch) : "") +
         ", working memory " + GigabytesText(prediction.working) + ", CUDA and libraries " +
         GigabytesText(prediction.overhead) + ")";
}

std::vector<MemoryRemedy> FindMemoryRemedies(const RunConfig& config, double limit) {
  std::vector<MemoryRemedy> single = SingleRemedies(config, limit);
  return single.empty() ? JointRemedy(config, limit) : single;
}

std::string MemoryAdviceText(const RunConfig& config, double limit) {
  std::string text;
  for (const MemoryRemedy& remedy : FindMemoryRemedies(config, limit)) {
    text += (text.empty() ? "Set " : "; or ") + remedy.change +
            " (predicted: " + GigabytesText(remedy.bytes) + ")";
  }
  if (!text.empty()) return text + ".";
  return std::string("The run does not fit, even with other values of layout.micro_batch, ") +
         (config.layout.dp > 1 ? "layout.zero, " : "") +
         "layout.recompute, train.deterministic and the data types of the moments. Reduce "
         "train.seq_length or the model size, or use GPUs with more memory.";
}

}  // namespace trainyard
