#include "controller/planner/run_findings.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "controller/planner/figures.h"
#include "proto/memory/memory_advice.h"
#include "proto/model/model_size.h"
#include "proto/rules/attention_rules.h"

namespace trainyard::planner {
namespace {

using Findings = std::vector<Finding>;

// A wait counts as a cause of slowness if it takes more than this share of a step. kLongInputWait
// is for input, kLongWait for all other waits.
constexpr double kLongInputWait = 0.05;
constexpr double kLongWait = 0.2;
// The range of learning rates in published dense runs with 100 M to 400 B parameters.
constexpr double kLeastUsualRate = 1e-5;
constexpr double kMostUsualRate = 5e-3;
// kHighestRate is the highest plausible learning rate of a model with kRateSize parameters. The
// rate decreases with the cube root of the size. Published rates are at most half as high: 3e-4 for
// 7 B (arXiv 2302.13971), 4.5e-4 for 15 B, 6e-5 for 175 B (arXiv 2005.14165), 8e-5 for 405 B (arXiv
// 2407.21783).
constexpr double kRateSize = 7e9;
constexpr double kHighestRate = 1.2e-3;
// A run with fewer steps counts as a test. Tests often have no warm-up.
constexpr int64_t kLongRun = 1000;
constexpr int64_t kUsualWarmup = 2000;  // Steps.
constexpr double kUsualClip = 1.0;

struct Wait {
  double part = 0;
  Finding finding;
};

std::string AxisAdvice(const std::string& axis) {
  return "a smaller layout." + axis +
         ", or a group that stays within one node; `trainyard plan --device` finds the fastest "
         "layout";
}

// Returns all waits of a step, however short, each with its finding.
std::vector<Wait> WaitsOf(const RunConfig& config, const StepWaits& waits) {
  const auto part = [&](double seconds) { return seconds / waits.step; };
  const LayoutConfig& layout = config.layout;
  return {
      {part(waits.tensor),
       {"tensor-parallel ranks wait for each other", "layout.tp is " + std::to_string(layout.tp),
        AxisAdvice("tp")}},
      {part(waits.context),
       {"context-parallel ranks wait for each other", "layout.cp is " + std::to_string(layout.cp),
        AxisAdvice("cp")}},
      {part(waits.expert),
       {"ranks wait for rows of each other's experts",
        "layout.ep is " + std::to_string(layout.ep) +
            ", and all ranks wait for the rank whose experts get the most rows",
        AxisAdvice("ep") + "; `trainyard experts JOB` shows the load of the experts"}},
      {part(waits.pipeline),
       {"pipeline stages wait for each other",
        "the bubble of " + std::to_string(layout.pp) +
            " stages is long, because a step has few micro-batches",
        std::string("a smaller ") + (layout.micro_batch > 1 ? "layout.micro_batch or " : "") +
            "layout.pp, or a larger layout.vpp"}},
      {part(waits.data),
       {"data-parallel ranks wait for each other",
        "gradient and weight transfers take longer than the forward and backward passes "
        "(layout.zero is " +
            std::to_string(layout.zero) + ")",
        layout.zero > 1 ? "layout.zero 1, if memory allows"
                        : "a larger train.global_batch, so that gradients are summed less often"}}};
}

void AddWaits(const RunConfig& config, const StepWaits& waits, Findings& findings) {
  if (waits.step <= 0) return;
  if (const double input = waits.input / waits.step; input > kLongInputWait) {
    findings.push_back({"ranks wait for data", PercentText(input, 0) + " of a step",
                        "put the token files on a faster disk close to the nodes, and check the "
                        "CPU load of the nodes"});
  }
  std::vector<Wait> long_waits;
  for (Wait& wait : WaitsOf(config, waits)) {
    if (wait.part > kLongWait) long_waits.push_back(std::move(wait));
  }
  std::stable_sort(long_waits.begin(), long_waits.end(),
                   [](const Wait& a, const Wait& b) { return a.part > b.part; });
  for (Wait& wait : long_waits) {
    wait.finding.why = PercentText(wait.part, 0) + " of a step: " + wait.finding.why;
    findings.push_back(std::move(wait.finding));
  }
}

// Returns the change that enables fused attention. A fused kernel requires 16-bit numbers and
// samples that are not divided by cp. `auto` already uses fused attention if possible.
std::string FusedAttentionAdvice(const RunConfig& config) {
  if (config.train.precision == Precision::kFp32) return "train.precision bf16";
  const bool is_auto = config.train.attention_backend == AttentionBackend::kAuto;
  return is_auto ? "layout.cp 1" : "train.attention_backend auto";
}

void AddSlowSettings(const RunConfig& config, Findings& findings) {
  const LayoutConfig& layout = config.layout;
  if (AttentionBackendOf(config) == AttentionBackend::kManual) {
    findings.push_back({"attention is computed without a fused kernel",
                        "train.attention_backend is manual, or cuDNN cannot compute this attention",
                        FusedAttentionAdvice(config)});
  }
  if (layout.recompute == Recompute::kFull) {
    findings.push_back({"every block is computed twice",
                        "layout.recompute is full, which costs about a quarter of the speed",
                        "layout.recompute selective or none, if memory allows"});
  }
  if (layout.zero == 3) {
    findings.push_back({"weights are gathered for every micro-batch", "layout.zero is 3",
                        "layout.zero 1, if memory allows"});
  }
  const int64_t share = config.train.global_batch / std::max<int64_t>(layout.dp, 1);
  if (layout.micro_batch < share) {
    findings.push_back(
        {"matrix products may be too small",
         "layout.micro_batch is " + std::to_string(layout.micro_batch) + ", but each rank has " +
             std::to_string(share) + " samples per step",
         "a larger layout.micro_batch; `trainyard tune` finds the fastest size that fits"});
  }
}

void AddRateAndClipping(const RunConfig& config, Findings& findings) {
  const double rate = config.optimizer.lr;
  if (rate < kLeastUsualRate || rate > kMostUsualRate) {
    findings.push_back(
        {"the learning rate is unusual", "optimizer.lr is " + FigureText(rate, 3),
         "optimizer.lr of about 3e-4, or higher for small models and lower for large models"});
  }
  if (config.optimizer.clip_grad == 0) {
    findings.push_back(
        {"gradients are not clipped", "optimizer.clip_grad is 0", "optimizer.clip_grad 1.0"});
  }
}

bool HasWarmup(const ScheduleConfig& schedule) {
  return schedule.warmup_steps > 0 || schedule.warmup_samples > 0 || schedule.warmup_tokens > 0 ||
         schedule.warmup_fraction > 0;
}

// Returns a text such as "a, or b, or c".
std::string AnyOf(const std::vector<std::string>& changes) {
  std::string text;
  for (const std::string& change : changes) text += (text.empty() ? "" : ", or ") + change;
  return text;
}

std::string LowerRate(const SpikeSettings& settings) {
  return settings.lr.has_value() ? "an optimizer.lr below " + FigureText(*settings.lr, 3)
                                 : "a lower learning rate";
}

// Advises on the loss guard's settings. Empty if the policy is lower_lr, which skips no samples.
std::string GuardAdvice(const SpikeSettings& settings) {
  if (settings.skips_samples) {
    return "guard.skip_batches above " + std::to_string(settings.skip_batches) +
           " (PaLM skipped 200 to 500)";
  }
  if (settings.lowers_rate) return "";
  return "`guard: {policy: skip}`, which rolls back and skips the samples of these steps";
}

std::string WarmupAdvice(const ScheduleConfig& schedule) {
  return schedule.warmup_steps < kUsualWarmup
             ? "a longer warm-up (schedule.warmup_steps " + std::to_string(kUsualWarmup) +
                   "), or a lower optimizer.lr"
             : "a lower optimizer.lr";
}

// Returns changes that reduce memory use. Used if the missing amount is unknown.
std::string GeneralMemoryAdvice(const RunConfig& config) {
  const LayoutConfig& layout = config.layout;
  std::vector<std::string> changes;
  if (layout.micro_batch != 1) {
    changes.emplace_back(
        "a smaller layout.micro_batch (each step then runs more micro-batches; the global batch "
        "stays the same)");
  }
  if (layout.zero < 1) changes.emplace_back("layout.zero 1");
  if (layout.zero < 3) changes.emplace_back("layout.zero 3 with 8 GPUs or more");
  if (layout.recompute != Recompute::kFull) changes.emplace_back("layout.recompute full");
  changes.emplace_back("a smaller train.seq_length");
  return AnyOf(changes);
}

}  // namespace

std::vector<Finding> FindSlowness(const RunConfig& config, const SpeedFacts& facts) {
  const bool is_low = facts.mfu > 0 && facts.mfu < kLowMfu;
  const bool is_behind = facts.expected > 0 && facts.expected < kSlowBelow;
  const StepWaits& waits = facts.waits;
  const bool is_starved = waits.step > 0 && waits.input > kLongInputWait * waits.step;
  if (!is_low && !is_behind && !is_starved) return {};
  Findings findings;
  AddWaits(config, waits, findings);
  if (is_low) AddSlowSettings(config, findings);
  if (findings.empty()) {
    findings.push_back(
        {"no setting explains the speed",
         is_behind ? "the run reaches " + PercentText(facts.expected, 0) + " of the predicted speed"
                   : "the MFU is " + PercentText(facts.mfu, 0),
         "run nvidia-smi to check the clocks, power limits and other processes of the GPUs, and "
         "check the CPU load of the nodes"});
  }
  return findings;
}

std::vector<Finding> FindRiskySettings(const RunConfig& config) {
  Findings findings;
  AddRateAndClipping(config, findings);
  const auto size = static_cast<double>(ParameterCount(config.model));
  const double highest = HighestUsualRate(config.model);
  const double rate = config.optimizer.lr;
  if (highest < rate && rate <= kMostUsualRate) {
    findings.push_back({"the learning rate is high for this model",
                        "optimizer.lr is " + FigureText(rate, 3) + " for " +
                            FigureText(size / 1e9, 3) +
                            " B parameters, and no published run is "
                            "above " +
                            FigureText(highest, 3),
                        "optimizer.lr of at most " + FigureText(highest / 2, 2)});
  }
  if (!HasWarmup(config.schedule) && config.train.steps >= kLongRun) {
    findings.push_back(
        {"the learning rate has no warm-up",
         "the first steps use the full optimizer.lr, which often makes the loss spike",
         "schedule.warmup_steps of about 2000"});
  }
  return findings;
}

std::vector<Finding> FindWhyLossStays(const RunConfig& config, double grad_norm) {
  Findings findings;
  AddRateAndClipping(config, findings);
  if (grad_norm > kMostUsualNorm) {
    findings.push_back(
        {"gradients are large",
         "the gradient norm is " + FigureText(grad_norm, 3) + "; usual values are 0.5 to 2.0",
         WarmupAdvice(config.schedule)});
  } else if (grad_norm > 0 && grad_norm < kLeastUsualNorm) {
    findings.push_back(
        {"gradients are small",
         "the gradient norm is " + FigureText(grad_norm, 3) + "; usual values are 0.5 to 2.0",
         "a higher optimizer.lr, such as 4e-4 instead of 3e-4"});
  }
  if (findings.empty()) findings.push_back(LossIsStagnant());
  return findings;
}

double HighestUsualRate(const ModelConfig& model) {
  const auto size = static_cast<double>(ParameterCount(model));
  return kHighestRate * std::cbrt(kRateSize / std::max(size, 1.0));
}

Finding LossIsNotFinite(const SpikeSettings& settings) {
  std::vector<std::string> changes = {LowerRate(settings)};
  if (const std::string guard = GuardAdvice(settings); !guard.empty()) changes.push_back(guard);
  return {"losses are not finite", "an overflow, a bad batch, or a learning rate that is too high",
          AnyOf(changes)};
}

Finding LossSpikes(const SpikeSettings& settings) {
  std::vector<std::string> changes;
  if (const std::string guard = GuardAdvice(settings); !guard.empty()) changes.push_back(guard);
  const double clip = settings.clip_grad.value_or(kUsualClip);
  if (clip == 0 || clip > kUsualClip) {
    changes.push_back("optimizer.clip_grad " + FigureText(kUsualClip, 2));
  }
  changes.push_back(LowerRate(settings));
  return {"the loss spikes", "bad batches, or gradients that explode", AnyOf(changes)};
}

Finding LossIsStagnant() {
  return {"the loss no longer falls", "the learning rate is too low, or the data is used up",
          "consider a higher learning rate, or more data"};
}

bool IsOutOfMemory(std::string_view text) {
  constexpr std::string_view kTexts[] = {"out of memory",
                                         "needs more memory than there is",
                                         "does not fit into the GPU's memory",
                                         "can't allocate memory",
                                         "annot allocate memory",
                                         "Out Of Memory",
                                         "oom_kill",
                                         "MemoryError",
                                         "std::bad_alloc"};
  return std::any_of(std::begin(kTexts), std::end(kTexts),
                     [&](std::string_view part) { return text.find(part) != text.npos; });
}

Finding OutOfMemory(const RunConfig& config, double bytes) {
  const bool is_predicted = bytes > 0 && config.resources.device == DeviceKind::kGpu;
  if (!is_predicted) {
    return {"out of memory", "the run needs more memory than its slots have",
            GeneralMemoryAdvice(config)};
  }
  const MemoryPrediction prediction = PredictTrainingMemory(config);
  return {"out of memory",
          "predicted: " + MemoryText(prediction) + " of the GPU's " + GigabytesText(bytes),
          MemoryAdviceText(config, std::min(bytes, prediction.Total()))};
}

Finding OutOfMemoryOfProgram(bool on_device) {
  return {"out of memory", "the program needs more memory than its slots have",
          on_device ? "a smaller micro-batch, shorter sequences, recomputation of activations or "
                      "sharded optimizer states in the settings of the program, or more slots"
                    : "fewer data loader workers or smaller caches in the settings of the program, "
                      "or nodes with more memory"};
}

}  // namespace trainyard::planner
