// Names in telemetry lines, written by the trainer and read by the worker. One JSON object per
// line. Times are Unix milliseconds, durations seconds. worker/README.md describes each record for
// users.
#ifndef TRAINYARD_PROTO_CONTRACT_TELEMETRY_KEYS_H_
#define TRAINYARD_PROTO_CONTRACT_TELEMETRY_KEYS_H_

#include <string>
#include <string_view>

namespace trainyard::telemetry {

// Keys of every record.
inline constexpr char kType[] = "type";
inline constexpr char kTimeMs[] = "time_ms";
inline constexpr char kStep[] = "step";  // Optimizer steps completed.

// Values of kType.
inline constexpr char kMetrics[] = "metrics";
inline constexpr char kPhase[] = "phase";
inline constexpr char kCheckpoint[] = "checkpoint";
inline constexpr char kEval[] = "eval";
inline constexpr char kAlert[] = "alert";
inline constexpr char kRank[] = "rank";
inline constexpr char kFlight[] = "flight";

// Keys of `metrics`. Every other key with a number is a metric.
inline constexpr char kTotalSteps[] = "total_steps";

// In the first `metrics` of an attempt: number of the active AttentionBackend of job_spec.proto.
inline constexpr char kAttentionBackend[] = "attention_backend";

// In `phase` records, the key of the phase's name is kPhase.

// In `metrics` and `alert`: samples of the steps since the preceding record, or of the alert, as a
// range "a:b" of positions as in TRAINYARD_SKIP_SAMPLES.
inline constexpr char kSamples[] = "samples";

// Keys of `checkpoint`.
inline constexpr char kAttempt[] = "attempt";      // Attempt that published it.
inline constexpr char kFormerAttempt[] = "epoch";  // Earlier name of kAttempt: read, not written.
inline constexpr char kPath[] = "path";
inline constexpr char kBytes[] = "bytes";
inline constexpr char kBlockingSeconds[] = "blocking_seconds";
inline constexpr char kTotalSeconds[] = "total_seconds";
inline constexpr char kDeleted[] = "deleted";  // Removed by retention.
// Name and value of the metric by which the run's checkpoints are compared; lower is better.
inline constexpr char kMetric[] = "metric";
inline constexpr char kMetricValue[] = "metric_value";

// Keys of `eval`.
inline constexpr char kDataSet[] = "data_set";
inline constexpr char kLoss[] = "loss";  // Mean nats per token; also a metric of `metrics`.
inline constexpr char kTokens[] = "tokens";

// Keys of `alert`.
inline constexpr char kCode[] = "code";
inline constexpr char kMessage[] = "message";
// Codes of alerts that trigger the loss guard, and of its own alert.
inline constexpr char kNanLoss[] = "nan_loss";
inline constexpr char kNanGradient[] = "nan_gradient";
inline constexpr char kLossSpike[] = "loss_spike";
// Codes of alerts of the controller's watchdog: a gang makes no progress, and a rank computes
// longer than the others.
inline constexpr char kHung[] = "hung";
inline constexpr char kStraggler[] = "straggler";

// Keys of `rank`: sums since the process began, except step_seconds, a mean since the preceding
// record.
inline constexpr char kStepSeconds[] = "step_seconds";
inline constexpr char kMemoryBytes[] = "memory_bytes";
inline constexpr char kInitSeconds[] = "init_seconds";
inline constexpr char kLoadSeconds[] = "load_seconds";
inline constexpr char kDataStallSeconds[] = "data_stall_seconds";
inline constexpr char kCheckpointSeconds[] = "checkpoint_seconds";
inline constexpr char kEvaluationSeconds[] = "evaluation_seconds";
// In `rank`, once it is above 1: number of times the gang has connected in this attempt.
inline constexpr char kGeneration[] = "generation";

// In `rank` and `metrics`: parts of the newest step's time on the rank's device, in seconds, which
// add up to it. telemetry.proto describes each.
inline constexpr char kComputeSeconds[] = "compute_seconds";
inline constexpr char kInputWaitSeconds[] = "input_wait_seconds";
inline constexpr char kTensorWaitSeconds[] = "tp_wait_seconds";
inline constexpr char kContextWaitSeconds[] = "cp_wait_seconds";
inline constexpr char kPipelineWaitSeconds[] = "pp_wait_seconds";
inline constexpr char kDataWaitSeconds[] = "dp_wait_seconds";
inline constexpr char kWorldWaitSeconds[] = "world_wait_seconds";
inline constexpr char kOptimizerSeconds[] = "optimizer_seconds";
inline constexpr char kCheckpointWaitSeconds[] = "checkpoint_wait_seconds";

// Keys of `flight`, besides kBytes. Only the newest record of each group after the rank's newest
// `rank` record counts.
inline constexpr char kGroup[] = "group";
inline constexpr char kRanks[] = "ranks";
inline constexpr char kSequence[] = "sequence";
inline constexpr char kOperation[] = "operation";
inline constexpr char kQueuedMs[] = "queued_ms";
inline constexpr char kEnteredMs[] = "entered_ms";

// Codes of alerts with a special meaning: a save failed and training continues; the last save is
// waiting until it can write; a save is impossible because ranks do not see the same checkpoint
// directory.
inline constexpr char kCheckpointFailed[] = "checkpoint_failed";
inline constexpr char kCheckpointBlocked[] = "checkpoint_blocked";
inline constexpr char kCheckpointUnshared[] = "checkpoint_unshared";
// The gang continues in place after the loss of a rank.
inline constexpr char kHealed[] = "healed";
// The loss of a rank would end the attempt, because its in-memory state has no copy.
inline constexpr char kHealingOff[] = "healing_off";
// The ranks of a paused job could not save.
inline constexpr char kPausedUnsaved[] = "paused_unsaved";
// The job has started, but its nodes do not share the checkpoint root with other nodes.
inline constexpr char kUnsharedRoot[] = "unshared_root";

// Metrics with a special meaning in summaries, charts and Prometheus.
inline constexpr char kGradNorm[] = "grad_norm";
inline constexpr char kLearningRate[] = "lr";
inline constexpr char kTokensPerSecond[] = "tokens_per_second";
inline constexpr char kMfu[] = "mfu";               // Counts attention over the full length.
inline constexpr char kMfuCausal[] = "mfu_causal";  // Counts attention to earlier tokens only.
inline constexpr char kPerplexity[] = "perplexity";
inline constexpr char kSamplesPerSecond[] = "samples_per_second";
inline constexpr char kClippedUnits[] = "clipped_units";  // Clipped adaptively in one step.
// Gradient noise scale in samples, computed from averages. The next two metrics are of a single
// step.
inline constexpr char kNoiseScale[] = "noise_scale";
inline constexpr char kNoiseGradient[] = "noise_scale_gradient";
inline constexpr char kNoiseTrace[] = "noise_scale_trace";
// Steps between two snapshots in host memory, and the mean cost of a snapshot as a fraction of a
// step.
inline constexpr char kSnapshotInterval[] = "snapshot_interval";
inline constexpr char kSnapshotCost[] = "snapshot_cost";
inline constexpr char kDataPasses[] = "data_epochs";  // In a blend followed by "_" and a name.

// Metric of the gradient norm of a part of the model: "grad_norm/layer_3".
inline std::string GradientNormOf(std::string_view part) {
  return std::string(kGradNorm) + "/" + std::string(part);
}

// Metric of the loss in `eval` records: "val_loss" for data set "val".
inline std::string EvaluationLoss(std::string_view data_set) {
  return std::string(data_set) + "_" + kLoss;
}

// Metric of e to the power of that loss.
inline std::string EvaluationPerplexity(std::string_view data_set) {
  return std::string(data_set) + "_perplexity";
}

}  // namespace trainyard::telemetry

#endif  // TRAINYARD_PROTO_CONTRACT_TELEMETRY_KEYS_H_
