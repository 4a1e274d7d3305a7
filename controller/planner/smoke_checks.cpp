#include "controller/planner/smoke_checks.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "controller/planner/figures.h"
#include "proto/memory/memory_advice.h"
#include "proto/memory/memory_model.h"

namespace trainyard::planner {
namespace {

// The allowed relative deviation of the first loss from its expected value (LossBounds).
constexpr double kFirstLossMargin = 0.05;
// By this fraction, the noise of single batches may raise the last losses above the first losses.
constexpr double kGrowthMargin = 0.02;
constexpr size_t kMeanOf = 3;

bool AllFinite(const std::vector<double>& losses) {
  return std::all_of(losses.begin(), losses.end(), [](double loss) { return std::isfinite(loss); });
}

double MeanOf(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

SmokeCheck Steps(const SmokeFacts& facts) {
  const auto ran = static_cast<int64_t>(facts.losses.size());
  SmokeCheck check{
      .name = "steps",
      .found = std::to_string(ran) + " of " + std::to_string(facts.config.train.steps) + " steps"};
  if (facts.end.empty() && ran >= facts.config.train.steps) return check;
  check.ok = false;
  if (IsOutOfMemory(facts.end)) {
    check.findings = {OutOfMemory(facts.config, facts.device_bytes)};
  } else {
    check.findings = {
        {"the run did not complete all steps",
         facts.end.empty() ? "not all steps were reported" : facts.end,
         "`trainyard logs` shows the output of the ranks, and `trainyard why` shows the verdict"}};
  }
  return check;
}

SmokeCheck FirstLoss(const SmokeFacts& facts) {
  const double first = facts.losses.front();
  const LossBounds bounds = FirstLossBounds(facts.config.model);
  const std::string expected = FigureText(bounds.low, 4) + " to " + FigureText(bounds.high, 4);
  SmokeCheck check{.name = "first loss",
                   .found = FigureText(first, 4) + "; random weights give " + expected};
  if (first >= bounds.low && first <= bounds.high) return check;
  check.ok = false;
  check.findings = {
      {"the first loss does not fit random weights",
       FigureText(first, 4) + " is not near ln(vocabulary) = " +
           FigureText(std::log(static_cast<double>(facts.config.model.vocab_size)), 4),
       first < bounds.low
           ? "check the data, because an untrained model should not predict tokens this well"
           : "check model.init_method_std, and compare model.vocab_size with the vocabulary size "
             "of the tokenizer"}};
  return check;
}

SmokeCheck Falls(const SmokeFacts& facts) {
  const std::span<const double> losses(facts.losses);
  const size_t count = std::min(kMeanOf, losses.size());
  const double first = losses.front(), last = MeanOf(losses.last(count));
  SmokeCheck check{.name = "loss",
                   .found = FigureText(first, 4) + " to " + FigureText(last, 4) +
                            " (mean loss of the last " + std::to_string(count) + " steps)"};
  if (last <= first * (1 + kGrowthMargin)) return check;
  check.ok = false;
  check.findings = FindWhyLossStays(facts.config, facts.grad_norm);
  check.findings.front().what = "the loss grows; " + check.findings.front().what;
  return check;
}

SmokeCheck NotFinite(const RunConfig& config) {
  const SpikeSettings settings{.clip_grad = config.optimizer.clip_grad, .lr = config.optimizer.lr};
  return {
      .name = "loss", .found = "not finite", .ok = false, .findings = {LossIsNotFinite(settings)}};
}

SmokeCheck Memory(const SmokeFacts& facts) {
  SmokeCheck check{.name = "memory",
                   .found = GigabytesText(facts.memory_bytes) + " of tensors; " +
                            GigabytesText(facts.predicted_bytes) + " predicted"};
  if (facts.memory_bytes <= facts.predicted_bytes * (1 + kMemoryMargin)) return check;
  check.ok = false;
  check.findings = {
      {"the run needs more memory than predicted",
       PercentText(facts.memory_bytes / facts.predicted_bytes - 1, 1) + " more",
       "leave headroom with a smaller layout.micro_batch, or with layout.recompute selective"}};
  return check;
}

SmokeCheck Speed(const SmokeFacts& facts) {
  const double predicted = facts.predicted_tokens_per_second;
  SmokeCheck check{.name = "tokens/s", .found = FigureText(facts.tokens_per_second, 4)};
  if (predicted > 0) {
    check.found += "; " + FigureText(predicted, 4) + " predicted (" +
                   PercentText(facts.tokens_per_second / predicted - 1, 1) + ")";
  }
  if (facts.mfu > 0) check.found += ", MFU " + PercentText(facts.mfu, 1);
  SpeedFacts speed{.mfu = facts.mfu, .waits = facts.waits};
  if (predicted > 0) speed.expected = facts.tokens_per_second / predicted;
  check.findings = FindSlowness(facts.config, speed);
  // Only a speed below the prediction fails the check. A predicted low MFU is caused by the
  // model, not by a fault of the run. Without a prediction, as on CPUs, findings are only
  // advice.
  check.ok = predicted <= 0 || speed.expected >= kSlowBelow;
  return check;
}

SmokeCheck Checkpoint(const SmokeFacts& facts) {
  SmokeCheck check{.name = "checkpoint"};
  switch (facts.checkpoint) {
    case SavedState::kReadable:
      check.found = "saved and read back: " + facts.checkpoint_text;
      return check;
    case SavedState::kNotSeen:
      check.found =
          "the checkpoint was saved, but it was not read back, because this machine cannot see " +
          facts.checkpoint_text;
      return check;
    case SavedState::kAbsent:
      check.findings = {{"no checkpoint was saved", "the run published no checkpoint",
                         "check that every node can read and write checkpoint.dir"}};
      break;
    case SavedState::kDamaged:
      check.findings = {{"the checkpoint cannot be read", facts.checkpoint_text,
                         "check the file system of checkpoint.dir"}};
      break;
  }
  check.ok = false;
  check.found = check.findings.front().what;
  return check;
}

}  // namespace

LossBounds FirstLossBounds(const ModelConfig& model) {
  const double base = std::log(static_cast<double>(model.vocab_size));
  // The variance of the logits that a head with random weights computes from normalized hidden
  // states.
  const double variance =
      static_cast<double>(model.hidden_size) * model.init_method_std * model.init_method_std;
  return {base * (1 - kFirstLossMargin), base * (1 + kFirstLossMargin) + variance / 2};
}

std::vector<SmokeCheck> CheckSmoke(const SmokeFacts& facts) {
  std::vector<SmokeCheck> checks = {Steps(facts)};
  if (!facts.losses.empty()) {
    if (!AllFinite(facts.losses)) {
      checks.push_back(NotFinite(facts.config));
    } else {
      if (facts.config.checkpoint.resume_from.empty()) checks.push_back(FirstLoss(facts));
      checks.push_back(Falls(facts));
    }
  }
  if (facts.memory_bytes > 0 && facts.predicted_bytes > 0) checks.push_back(Memory(facts));
  if (facts.tokens_per_second > 0) checks.push_back(Speed(facts));
  if (facts.end.empty()) checks.push_back(Checkpoint(facts));
  return checks;
}

}  // namespace trainyard::planner
