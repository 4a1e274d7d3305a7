#include "controller/metrics/training_totals.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "proto/contract/telemetry_keys.h"
#include "proto/contract/token_format.h"
#include "proto/support/freshness.h"

namespace trainyard::controller {
namespace {

using prometheus::MetricType;

constexpr MetricInfo kStep{"trainyard_train_step",
                           "Newest step that the newest attempt has reported."};
constexpr MetricInfo kTotalSteps{"trainyard_train_target_steps",
                                 "Number of steps planned for the whole run."};
constexpr MetricInfo kLastStepTime{"trainyard_train_last_step_timestamp_seconds",
                                   "When the newest step was reported, Unix seconds."};
constexpr MetricInfo kSteps{"trainyard_train_steps_total",
                            "Steps reported, including redone steps.", MetricType::Counter};
constexpr MetricInfo kTokens{"trainyard_train_tokens_total",
                             "Tokens trained on, including those of redone steps.",
                             MetricType::Counter};
constexpr MetricInfo kDataStall{"trainyard_train_data_stall_seconds_total",
                                "Time that rank 0 waited for data.", MetricType::Counter};
constexpr MetricInfo kStepSeconds{"trainyard_train_step_duration_seconds", "Duration of a step.",
                                  MetricType::Histogram};
constexpr MetricInfo kCheckpointSeconds{
    "trainyard_checkpoint_duration_seconds",
    "Time from the snapshot of a checkpoint to its publication.", MetricType::Histogram};
constexpr MetricInfo kCheckpointBlocking{"trainyard_checkpoint_blocking_seconds_total",
                                         "Time that checkpoints blocked training.",
                                         MetricType::Counter};

struct LastValue {
  const char* key;
  MetricInfo info;
  // True if the value is a speed. A speed is exported only while steps arrive.
  bool is_rate = false;
};

// The telemetry names (telemetry.proto) whose last value is exported.
constexpr std::array kLastValues{
    LastValue{telemetry::kLoss, {"trainyard_train_loss", "Newest training loss, nats per token."}},
    LastValue{"validation_loss",
              {"trainyard_train_validation_loss", "Newest validation loss, nats per token."}},
    LastValue{telemetry::kGradNorm,
              {"trainyard_train_grad_norm", "Newest gradient norm before clipping."}},
    LastValue{telemetry::kLearningRate, {"trainyard_train_learning_rate", "Newest learning rate."}},
    LastValue{telemetry::kStepSeconds, {"trainyard_train_step_seconds", "Newest step time."}, true},
    LastValue{telemetry::kTokensPerSecond,
              {"trainyard_train_tokens_per_second", "Newest tokens per second of the gang."},
              true},
    LastValue{telemetry::kMfu,
              {"trainyard_train_mfu_ratio",
               "Model FLOPs utilization of the newest step, 0 to 1. Attention counts over the full "
               "sequence."},
              true},
    LastValue{
        telemetry::kMfuCausal,
        {"trainyard_train_mfu_causal_ratio",
         "Model FLOPs utilization of the newest step, 0 to 1, counting only the causal half of "
         "attention, as in Megatron-LM."},
        true},
    LastValue{telemetry::kPerplexity,
              {"trainyard_train_perplexity", "Newest training perplexity, exp(loss)."}},
    LastValue{telemetry::kSamplesPerSecond,
              {"trainyard_train_samples_per_second", "Newest samples per second of the gang."},
              true},
    LastValue{telemetry::kNoiseScale,
              {"trainyard_train_gradient_noise_scale", "Newest gradient noise scale, samples."}},
    LastValue{telemetry::kLossScale,
              {"trainyard_train_loss_scale", "Newest loss scale of a run in fp16."}},
    LastValue{telemetry::kSkippedSteps,
              {"trainyard_train_skipped_steps",
               "Steps of a run in fp16 that overflowed and changed no weights."}},
    LastValue{telemetry::kMoeBalanceMax,
              {"trainyard_train_moe_balance_max",
               "Newest highest load of an expert divided by the mean load of its layer, in the "
               "layer where it is highest. 1 is even."}},
    LastValue{telemetry::kMoeBalanceMean,
              {"trainyard_train_moe_balance_mean",
               "Newest highest load of an expert divided by the mean load of its layer, mean of "
               "all layers."}},
    LastValue{telemetry::kMoeAuxLoss,
              {"trainyard_train_moe_aux_loss",
               "Newest balance loss of the experts for the coefficient 1, mean of all layers."}},
    LastValue{
        telemetry::kMoeRouterEntropyMin,
        {"trainyard_train_moe_router_entropy_min",
         "Newest mean entropy of a router's scores, 0 to 1, in the layer where it is lowest."}},
    LastValue{telemetry::kMoeDroppedShare,
              {"trainyard_train_moe_dropped_ratio",
               "Newest share of the choices of experts that were dropped, 0 to 1."}},
    LastValue{telemetry::kMemoryBytes,
              {"trainyard_train_memory_bytes", "Peak device memory, as reported by rank 0."}},
};

constexpr MetricInfo kStepParts{
    "trainyard_train_step_part_seconds",
    "Newest step time by use, as reported by the reporting rank: compute, optimizer, and the waits "
    "that no other work hides. The parts add up to the step."};

struct StepPart {
  const char* key;
  const char* label;
};

constexpr std::array kParts{StepPart{telemetry::kComputeSeconds, "compute"},
                            StepPart{telemetry::kInputWaitSeconds, "input_wait"},
                            StepPart{telemetry::kTensorWaitSeconds, "tp_wait"},
                            StepPart{telemetry::kContextWaitSeconds, "cp_wait"},
                            StepPart{telemetry::kExpertWaitSeconds, "ep_wait"},
                            StepPart{telemetry::kPipelineWaitSeconds, "pp_wait"},
                            StepPart{telemetry::kDataWaitSeconds, "dp_wait"},
                            StepPart{telemetry::kWorldWaitSeconds, "world_wait"},
                            StepPart{telemetry::kOptimizerSeconds, "optimizer"},
                            StepPart{telemetry::kCheckpointWaitSeconds, "checkpoint_wait"}};

// Returns true if the newest value of this telemetry name is exported.
bool IsExported(const std::string& key) {
  const auto has_key = [&](const auto& value) { return key == value.key; };
  return std::ranges::any_of(kLastValues, has_key) || std::ranges::any_of(kParts, has_key);
}

std::optional<double> Find(const v1::MetricsRecord& metrics, const char* key) {
  const auto found = metrics.values().find(key);
  if (found == metrics.values().end()) return std::nullopt;
  return found->second;
}

using Buckets = prometheus::Histogram::BucketBoundaries;

const Buckets& StepBuckets() {
  static const Buckets buckets = {0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
                                  2.5,  5,     10,   25,  60,   120, 300};
  return buckets;
}

const Buckets& CheckpointBuckets() {
  static const Buckets buckets = {0.1, 0.5, 1, 5, 15, 30, 60, 120, 300, 900, 1800};
  return buckets;
}

// Adds a duration to the histogram. Ignores NaN, because the histogram's sum would then stay NaN.
void ObserveNumber(double seconds, const Buckets& buckets,
                   std::optional<prometheus::Histogram>& histogram) {
  if (std::isnan(seconds)) return;
  if (!histogram.has_value()) histogram.emplace(buckets);
  histogram->Observe(seconds);
}

void AddStepParts(const std::map<std::string, double>& last, const MetricLabels& labels,
                  MetricSet& metrics) {
  for (const StepPart& part : kParts) {
    const auto seconds = last.find(part.key);
    if (seconds == last.end()) continue;
    MetricLabels with_part = labels;
    with_part.push_back({"part", part.label});
    metrics.Add(kStepParts, std::move(with_part), seconds->second);
  }
}

}  // namespace

void TrainingTotals::Observe(const v1::TelemetryBatch& batch, Timestamp now) {
  for (const v1::TelemetryRecord& record : batch.records()) {
    if (!record.has_metrics() && !record.has_evaluation() && !record.has_checkpoint()) continue;
    Job& job = jobs_[batch.stream().job_id()];
    if (record.has_metrics()) {
      ObserveMetrics(record, batch.stream().attempt(), now, job);
    } else if (record.has_checkpoint()) {
      ObserveCheckpoint(record.checkpoint(), job);
    } else if (batch.stream().attempt() >= job.attempt &&
               record.evaluation().data_set() == token_format::kValidationSplit) {
      job.last["validation_loss"] = record.evaluation().loss();
    }
  }
}

void TrainingTotals::ObserveMetrics(const v1::TelemetryRecord& record, int64_t attempt_number,
                                    Timestamp now, Job& job) {
  const v1::MetricsRecord& metrics = record.metrics();
  if (const auto seconds = Find(metrics, telemetry::kStepSeconds); seconds > 0) {
    ObserveNumber(*seconds, StepBuckets(), job.step_seconds);
  }
  if (const auto stall = Find(metrics, telemetry::kDataStallSeconds); stall > 0) {
    job.data_stall_seconds += *stall;
  }
  // A late record of an older attempt must not change the values of the newest attempt.
  if (attempt_number < job.attempt) return;
  const bool first_of_attempt = attempt_number > std::exchange(job.attempt, attempt_number);
  const double tokens = Find(metrics, telemetry::kTokens).value_or(job.tokens);
  // The step from which the attempt resumed is not known here, so its first record counts as one
  // step.
  job.steps_counted += first_of_attempt ? 1 : std::max<int64_t>(0, metrics.step() - job.step);
  if (!first_of_attempt && tokens > job.tokens) job.tokens_counted += tokens - job.tokens;
  job.step = first_of_attempt ? metrics.step() : std::max(job.step, metrics.step());
  job.tokens = tokens;
  if (metrics.total_steps() > 0) job.total_steps = metrics.total_steps();
  // The node's clock may be ahead. Limit the time, because a time in the future would hide a stall.
  job.step_time_ms = std::min(now, record.time_ms());
  for (const auto& [key, value] : metrics.values()) {
    if (IsExported(key)) job.last[key] = value;
  }
  // Programs without evaluation records report the loss as a metric.
  const std::string validation = telemetry::EvaluationLoss(token_format::kValidationSplit);
  if (const auto loss = Find(metrics, validation.c_str())) job.last["validation_loss"] = *loss;
}

void TrainingTotals::ObserveCheckpoint(const v1::CheckpointRecord& record, Job& job) {
  if (record.deleted()) return;
  ObserveNumber(record.total_seconds(), CheckpointBuckets(), job.checkpoint_seconds);
  if (record.blocking_seconds() > 0) job.checkpoint_blocking_seconds += record.blocking_seconds();
}

void TrainingTotals::AddJobSamples(int64_t job_id, const MetricLabels& labels, Timestamp now,
                                   MetricSet& metrics) const {
  const auto found = jobs_.find(job_id);
  if (found == jobs_.end()) return;
  const Job& job = found->second;
  const auto step_seconds = job.last.find(telemetry::kStepSeconds);
  const bool is_fresh =
      IsFresh(now - job.step_time_ms, step_seconds == job.last.end() ? 0 : step_seconds->second);
  for (const LastValue& value : kLastValues) {
    const auto last = job.last.find(value.key);
    if (value.is_rate && !is_fresh) continue;
    if (last != job.last.end()) metrics.Add(value.info, labels, last->second);
  }
  if (is_fresh) AddStepParts(job.last, labels, metrics);
  if (job.attempt > 0) {
    metrics.Add(kStep, labels, static_cast<double>(job.step));
    metrics.Add(kLastStepTime, labels, static_cast<double>(job.step_time_ms) / 1000);
    metrics.Add(kSteps, labels, static_cast<double>(job.steps_counted));
    metrics.Add(kTokens, labels, job.tokens_counted);
    metrics.Add(kDataStall, labels, job.data_stall_seconds);
  }
  if (job.total_steps > 0) metrics.Add(kTotalSteps, labels, static_cast<double>(job.total_steps));
  if (job.step_seconds.has_value()) metrics.Add(kStepSeconds, labels, *job.step_seconds);
  if (job.checkpoint_seconds.has_value()) {
    metrics.Add(kCheckpointSeconds, labels, *job.checkpoint_seconds);
    metrics.Add(kCheckpointBlocking, labels, job.checkpoint_blocking_seconds);
  }
}

}  // namespace trainyard::controller
