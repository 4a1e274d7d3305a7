#include "controller/planner/run_review.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "controller/planner/amount.h"
#include "controller/planner/figures.h"
#include "proto/rules/blend_stages.h"

namespace trainyard::planner {
namespace {

// More tokens than any corpus contains.
constexpr double kTooManyTokens = 1e15;

std::string WholeText(int64_t value) { return std::to_string(value); }

void ReviewSequenceParallel(const LayoutConfig& layout, std::vector<Finding>& findings) {
  if (!layout.sequence_parallel || layout.tp > 1) return;
  findings.push_back({"`layout.sequence_parallel` at layout.tp 1",
                      "sequence parallelism splits norms over tensor-parallel ranks, but with "
                      "layout.tp 1 there is only one such rank",
                      "remove this setting, because it has no effect"});
}

// Reports an implausibly large number of samples, which was probably meant as a number of tokens.
void ReviewSamples(const TrainConfig& train, std::vector<Finding>& findings) {
  if (train.samples == 0 || TokensOf(train) <= kTooManyTokens) return;
  findings.push_back({"`train.samples` " + WholeText(train.samples),
                      "this number of samples, each of " + WholeText(train.seq_length) +
                          " tokens, makes " + FigureText(TokensOf(train), 2) + " tokens; " +
                          AmountText(static_cast<double>(train.samples)) +
                          " tokens were probably meant",
                      "train.samples " + WholeText(train.samples / train.seq_length)});
}

// Weights of entries such as "0.67 /data/web" need not add up to 1. But if their sum is close to 1,
// they were probably meant as shares.
void ReviewBlend(const std::vector<std::string>& blend, std::vector<Finding>& findings) {
  constexpr double kNearly = 0.2, kRounded = 0.002;
  double sum = 0;
  for (const std::string& entry : blend) sum += std::strtod(entry.c_str(), nullptr);
  const double gap = std::abs(sum - 1);
  if (blend.empty() || gap > kNearly || gap <= kRounded) return;
  findings.push_back({"`data.blend` of " + WholeText(static_cast<int64_t>(blend.size())) + " sets",
                      "the shares sum to " + FigureText(sum, 4), "shares that sum to 1"});
}

// Reports the first entry of data.blend_stages that begins after the end of the run.
void ReviewStages(const RunConfig& config, std::vector<Finding>& findings) {
  const int64_t steps = config.train.steps;
  for (const BlendStage& stage : BlendStagesOf(config.data).stages) {
    if (steps == 0 || stage.first_step <= steps) continue;
    findings.push_back({"`data.blend_stages` at step " + WholeText(stage.first_step),
                        "the run ends at step " + WholeText(steps) + ", before this entry begins",
                        "a step up to " + WholeText(steps) + ", or no such entry"});
    return;
  }
}

}  // namespace

double TokensOf(const TrainConfig& train) {
  const auto length = static_cast<double>(train.seq_length);
  if (train.tokens > 0) return static_cast<double>(train.tokens);
  if (train.samples > 0) return static_cast<double>(train.samples) * length;
  return static_cast<double>(train.steps) * static_cast<double>(train.global_batch) * length;
}

std::vector<Finding> ReviewJob(const RunConfig& config, bool writes_sequence_parallel) {
  std::vector<Finding> findings;
  if (writes_sequence_parallel) ReviewSequenceParallel(config.layout, findings);
  ReviewSamples(config.train, findings);
  ReviewBlend(config.data.blend, findings);
  ReviewStages(config, findings);
  return findings;
}

}  // namespace trainyard::planner
