// Names in telemetry lines. The trainer writes these lines and the worker reads them. Each line is
// one JSON object. Times are Unix milliseconds; durations are seconds. worker/README.md describes
// the records for users.
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
inline constexpr char kExperts[] = "experts";
inline constexpr char kDataReport[] = "data_report";
inline constexpr char kEnvironment[] = "environment";

// Keys of `environment` records. kPackages has names and versions, separated by blanks.
inline constexpr char kInterpreter[] = "interpreter";
inline constexpr char kInterpreterVersion[] = "interpreter_version";
inline constexpr char kDriver[] = "driver";
inline constexpr char kCuda[] = "cuda";
inline constexpr char kNccl[] = "nccl";
inline constexpr char kImage[] = "image";
inline constexpr char kImageDigest[] = "image_digest";
inline constexpr char kPackages[] = "packages";
inline constexpr char kPackagesOmitted[] = "packages_omitted";
inline constexpr char kProblem[] = "problem";

// A key of `metrics` records. Every other key whose value is a number is a metric.
inline constexpr char kTotalSteps[] = "total_steps";

// A key of the first `metrics` record of an attempt. The value is the number of the active
// AttentionBackend (job_spec.proto).
inline constexpr char kAttentionBackend[] = "attention_backend";

// In `phase` records, the key kPhase has the name of the phase.

// A key of `metrics` and `alert` records. The value is a range "a:b" of sample positions, in the
// format of TRAINYARD_SKIP_SAMPLES. In `metrics` records: the samples of the steps since the
// preceding record. In `alert` records: the samples that caused the alert.
inline constexpr char kSamples[] = "samples";

// Keys of `checkpoint`.
inline constexpr char kAttempt[] = "attempt";      // The attempt that published it.
inline constexpr char kFormerAttempt[] = "epoch";  // Former name of kAttempt; only read.
inline constexpr char kPath[] = "path";
inline constexpr char kBytes[] = "bytes";
inline constexpr char kBlockingSeconds[] = "blocking_seconds";
inline constexpr char kTotalSeconds[] = "total_seconds";
inline constexpr char kDeleted[] = "deleted";  // Removed by retention.
// The name and the value of the metric by which the run's checkpoints are compared. Lower is
// better.
inline constexpr char kMetric[] = "metric";
inline constexpr char kMetricValue[] = "metric_value";

// Keys of `eval`.
inline constexpr char kDataSet[] = "data_set";
inline constexpr char kLoss[] = "loss";  // Mean nats per token; also a metric of `metrics`.
inline constexpr char kTokens[] = "tokens";

// Keys of `alert`.
inline constexpr char kCode[] = "code";
inline constexpr char kMessage[] = "message";
// Alert codes of the loss guard. A trainer's alert kNanLoss or kNanGradient triggers the guard. If
// the guard itself detects the problem in the losses, its alert is kLossSpike or kNanLoss.
inline constexpr char kNanLoss[] = "nan_loss";
inline constexpr char kNanGradient[] = "nan_gradient";
inline constexpr char kLossSpike[] = "loss_spike";
// Codes of the controller's watchdog alerts. kStalled: a gang makes no progress. kSlowRank: a rank
// computes longer than the others.
inline constexpr char kStalled[] = "stalled";
inline constexpr char kSlowRank[] = "slow_rank";
// A launcher starts its ranks again, or reports that one of them has failed.
inline constexpr char kLauncherRestart[] = "launcher_restart";
inline constexpr char kLauncherRankFailed[] = "launcher_rank_failed";
inline constexpr char kFormerStalled[] = "hung";  // Former name of kStalled; only read.

// Keys of `rank` records. The values are sums since the process began, except step_seconds, which
// is the mean since the preceding record.
inline constexpr char kStepSeconds[] = "step_seconds";
inline constexpr char kMemoryBytes[] = "memory_bytes";
inline constexpr char kInitSeconds[] = "init_seconds";
inline constexpr char kLoadSeconds[] = "load_seconds";
inline constexpr char kDataStallSeconds[] = "data_stall_seconds";
inline constexpr char kCheckpointSeconds[] = "checkpoint_seconds";
inline constexpr char kEvaluationSeconds[] = "evaluation_seconds";
// A key of `rank` records: how often the gang has connected in this attempt. Written only if
// greater than 1.
inline constexpr char kGeneration[] = "generation";

// Keys of `rank` and `metrics` records: the parts of the newest step's time on the rank's device,
// in seconds. The sum of the parts is the step time. telemetry.proto describes each part.
inline constexpr char kComputeSeconds[] = "compute_seconds";
inline constexpr char kInputWaitSeconds[] = "input_wait_seconds";
inline constexpr char kTensorWaitSeconds[] = "tp_wait_seconds";
inline constexpr char kContextWaitSeconds[] = "cp_wait_seconds";
inline constexpr char kExpertWaitSeconds[] = "ep_wait_seconds";
inline constexpr char kPipelineWaitSeconds[] = "pp_wait_seconds";
inline constexpr char kDataWaitSeconds[] = "dp_wait_seconds";
inline constexpr char kWorldWaitSeconds[] = "world_wait_seconds";
inline constexpr char kOptimizerSeconds[] = "optimizer_seconds";
inline constexpr char kCheckpointWaitSeconds[] = "checkpoint_wait_seconds";

// Keys of `flight` records, which also contain kBytes. Only the newest record of each group counts,
// and only if it is newer than the rank's newest `rank` record.
inline constexpr char kGroup[] = "group";
inline constexpr char kRanks[] = "ranks";
inline constexpr char kSequence[] = "sequence";
inline constexpr char kOperation[] = "operation";
inline constexpr char kQueuedMs[] = "queued_ms";
inline constexpr char kEnteredMs[] = "entered_ms";

// Keys of `experts` records: the balance of the layers with experts in one step. kFirstLayer is the
// first of these consecutive layers, counted from 0. kExpertCount: experts per layer. kTopk:
// experts per token. kExpertLoad: a code (expert_load.h) for each expert of each layer, as two
// hexadecimal digits; absent if there are more than kMaxExpertLoads. The other values are arrays
// with a number for each layer, in the order of the layers. Only kBalance is required.
inline constexpr char kFirstLayer[] = "first_layer";
inline constexpr char kExpertCount[] = "expert_count";
inline constexpr char kTopk[] = "topk";
inline constexpr char kExpertLoad[] = "load";
inline constexpr char kBalance[] = "balance";   // Highest load divided by the mean load.
inline constexpr char kAuxLoss[] = "aux_loss";  // For the coefficient 1.
inline constexpr char kEntropy[] = "entropy";   // The router's, from 0 to 1.
inline constexpr char kDropped[] = "dropped";   // Share of the choices that were dropped.

// Keys of `data_report` records: a part of the report of a data set (data_report.h). kNumber: the
// number of the report in this attempt, from 1. kPart: the number of the part, from 1. kText: this
// part of the JSON text.
inline constexpr char kNumber[] = "number";
inline constexpr char kPart[] = "part";
inline constexpr char kParts[] = "parts";
inline constexpr char kText[] = "text";

// Alert codes with a special meaning. kCheckpointFailed: a save failed and training continues.
// kCheckpointBlocked: the last save is waiting until it can write. kCheckpointUnshared: a save is
// impossible, because the ranks do not see the same checkpoint directory.
inline constexpr char kCheckpointFailed[] = "checkpoint_failed";
inline constexpr char kCheckpointBlocked[] = "checkpoint_blocked";
inline constexpr char kCheckpointUnshared[] = "checkpoint_unshared";
// The gang has lost a rank and continues without a restart.
inline constexpr char kHealed[] = "healed";
// The loss of a rank would end the attempt, because there is no copy of the rank's in-memory state.
inline constexpr char kHealingOff[] = "healing_off";
// The job was paused, but its ranks could not save.
inline constexpr char kPausedUnsaved[] = "paused_unsaved";
// The job has started, but its nodes do not share the checkpoint root with other nodes.
inline constexpr char kUnsharedRoot[] = "unshared_root";
// A node of the gang has changed, and `placement` of the job no longer allows it.
inline constexpr char kPlacementChanged[] = "placement_changed";

// Metrics that get special treatment in summaries, charts or Prometheus.
inline constexpr char kGradNorm[] = "grad_norm";
// Iterations with a loss that was not finite, as counted by Megatron-LM.
inline constexpr char kNanIterations[] = "number_of_nan_iterations";
inline constexpr char kLearningRate[] = "lr";
inline constexpr char kTokensPerSecond[] = "tokens_per_second";
inline constexpr char kMfu[] = "mfu";               // Counts attention over the full length.
inline constexpr char kMfuCausal[] = "mfu_causal";  // Counts attention to earlier tokens only.
inline constexpr char kPerplexity[] = "perplexity";
inline constexpr char kSamplesPerSecond[] = "samples_per_second";
inline constexpr char kMtpLoss[] = "mtp_loss";  // Mean over the modules of multi-token prediction.
// The balance of the experts in one step: highest and mean kBalance of the layers, mean kAuxLoss,
// lowest kEntropy, and the share of dropped choices in all layers.
inline constexpr char kMoeBalanceMax[] = "moe_balance_max";
inline constexpr char kMoeBalanceMean[] = "moe_balance_mean";
inline constexpr char kMoeAuxLoss[] = "moe_aux_loss";
inline constexpr char kMoeRouterEntropyMin[] = "moe_router_entropy_min";
inline constexpr char kMoeDroppedShare[] = "moe_dropped_share";
inline constexpr char kClippedUnits[] = "clipped_units";  // Number clipped adaptively in one step.
// With fp16. kLossScale: the factor of the gradients in the next step. kSkippedSteps: the number of
// steps so far that overflowed and changed no weights.
inline constexpr char kLossScale[] = "loss_scale";
inline constexpr char kSkippedSteps[] = "skipped_steps";
// The gradient noise scale in samples, computed from averages over steps. The next two metrics are
// its inputs, measured in a single step.
inline constexpr char kNoiseScale[] = "noise_scale";
inline constexpr char kNoiseGradient[] = "noise_scale_gradient";
inline constexpr char kNoiseTrace[] = "noise_scale_trace";
// kSnapshotInterval: the number of steps between two snapshots in host memory. kSnapshotCost: the
// mean time of a snapshot as a fraction of a step.
inline constexpr char kSnapshotInterval[] = "snapshot_interval";
inline constexpr char kSnapshotCost[] = "snapshot_cost";
inline constexpr char kDataPasses[] = "data_epochs";  // In a blend, "_" and a name follow.

// Metrics of data jobs. The lowest rank writes them for the whole gang; a step (kStep) is 1 MiB of
// input. kPipelineStep: number of the current step of the pipeline, from 1. kPipelineSteps: number
// of these steps. kDocuments, kDroppedDocuments, kBytes, kTokens: documents read, documents not
// kept, bytes of input read, and tokens written or counted in the current step of the pipeline.
// kBytesPerSecond: rate of the gang. kEtaSeconds: predicted time to the end of the step of the
// pipeline; absent if unknown.
inline constexpr char kPipelineStep[] = "pipeline_step";
inline constexpr char kPipelineSteps[] = "pipeline_steps";
inline constexpr char kDocuments[] = "documents";
inline constexpr char kDroppedDocuments[] = "dropped_documents";
inline constexpr char kBytesPerSecond[] = "bytes_per_second";
inline constexpr char kEtaSeconds[] = "eta_seconds";
// The unfinished block that has been in work for the longest time: its number in the pass, from 1,
// the seconds since it was leased, and the rank that works on it. Absent if no block is in work.
inline constexpr char kSlowestBlock[] = "slowest_block";
inline constexpr char kSlowestBlockSeconds[] = "slowest_block_seconds";
inline constexpr char kSlowestBlockRank[] = "slowest_block_rank";

// Returns the metric name for the gradient norm of a part of the model, such as
// "grad_norm/layer_3".
inline std::string GradientNormOf(std::string_view part) {
  return std::string(kGradNorm) + "/" + std::string(part);
}

// Returns the metric name for an evaluation loss, such as "val_loss" for data set "val".
inline std::string EvaluationLoss(std::string_view data_set) {
  return std::string(data_set) + "_" + kLoss;
}

// Returns the metric name for an evaluation perplexity, which is e to the power of the loss.
inline std::string EvaluationPerplexity(std::string_view data_set) {
  return std::string(data_set) + "_perplexity";
}

}  // namespace trainyard::telemetry

#endif  // TRAINYARD_PROTO_CONTRACT_TELEMETRY_KEYS_H_
