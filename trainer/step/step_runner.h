// Runs optimizer steps asynchronously on the device.
#ifndef TRAINYARD_TRAINER_STEP_STEP_RUNNER_H_
#define TRAINYARD_TRAINER_STEP_STEP_RUNNER_H_

#include <torch/types.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "proto/contract/run_config.h"
#include "trainer/data/prefetcher.h"
#include "trainer/model/decoder.h"
#include "trainer/model/parameters/weight_gradients.h"
#include "trainer/optimizer/adamw.h"
#include "trainer/parallel/interruption/presence.h"
#include "trainer/parallel/rank_groups.h"
#include "trainer/parallel/step_clock.h"
#include "trainer/step/adaptive_clip.h"
#include "trainer/step/expert_totals.h"
#include "trainer/step/gradient_noise.h"
#include "trainer/step/gradient_reduction.h"
#include "trainer/step/group_norms.h"
#include "trainer/step/loss_scale.h"
#include "trainer/step/pipeline.h"
#include "trainer/step/weight_exchange.h"

namespace trainyard::trainer {

// The results of one optimizer step. The results are the same on every rank unless noted otherwise.
struct StepResult {
  int64_t step = 0;
  // Mean over the counted predictions of the global batch, without the auxiliary losses.
  double loss = 0;
  double mtp_loss = 0;   // Mean over the modules of multi-token prediction. 0: no modules.
  double grad_norm = 0;  // After adaptive clipping, before optimizer.clip_grad; without loss scale.
  double learning_rate = 0;
  bool is_finite = true;     // If false, the step changed no weights.
  bool stop = false;         // True if a rank was asked to stop before the step.
  bool save = false;         // True if a rank was asked to save before the step.
  bool is_unread = false;    // True if a rank could not read its tokens; then is_finite is false.
  double snapshot_cost = 0;  // Sum of StepRequest::snapshot_cost over all ranks.
  double seconds = 0;        // Since the end of the previous step or, if later, since the launch.
  std::optional<StepTimes> times;  // Times of this rank, if requested.
  int64_t clipped_units = 0;       // By optimizer.adaptive_clip.
  // part_norms and batches are empty if the step is not finite. part_norms: in the order of
  // GradientPartNames; only if requested. batches: only with train.gradient_noise_scale.
  std::vector<double> part_norms;
  std::optional<BatchGradients> batches;
  std::vector<LayerBalance> experts;  // Set if requested, or if the step is not finite.
};

struct StepRequest {
  int64_t step = 0;    // Step number, from 1.
  int64_t rounds = 0;  // Micro-batches per rank.
  double learning_rate = 0;
  bool stop = false;         // True if this rank was asked to stop.
  bool save = false;         // True if this rank was asked to save.
  bool measure = false;      // True to measure the parts of the step's time.
  double snapshot_cost = 0;  // Delay caused by this rank's latest snapshot, in steps.
  bool part_norms = false;   // Compute norms of the model's parts; equal on all ranks.
  // Factor of the gradients, a power of two, so that scaling is exact. Equal on all ranks.
  double loss_scale = 1;
  int64_t skipped_steps = 0;  // Earlier steps that changed no weights. AdamW does not count them.
  bool experts = false;       // Measure the balance of experts; equal on all ranks.
};

// Runs steps. A step consists of the forward and backward passes of this rank's micro-batches, the
// sums over the ranks, the gradient norm, and the update. All work is queued on the device, and
// results arrive later. Not thread-safe. All arguments must outlive this object.
class StepRunner {
 public:
  struct Parts {
    const RunConfig& config;
    Decoder& model;
    AdamW& optimizer;
    const RankGroups& groups;
    StepClock& clock;  // Counts the waits of the groups.
    const Presence& presence;
    torch::Device device;
  };

  explicit StepRunner(const Parts& parts);

  // Queues a step. `next` returns the rank's next micro-batch. If a micro-batch of any rank is
  // unread, the step changes no weights on any rank, like a step whose loss is not finite.
  // `before_update` is called when all work before the weight update has been queued.
  void Launch(const StepRequest& request, const std::function<TokenBatch()>& next,
              const std::function<void()>& before_update);

  // The number of launched but unfinished steps.
  int64_t pending() const { return static_cast<int64_t>(pending_.size()); }

  // Waits for the oldest launched step. Throws TrainerError(kPeerLost) if a peer is lost or has
  // left the gang before the end of the step, because the results are then invalid.
  StepResult Finish();

  const Pipeline& pipeline() const { return pipeline_; }

 private:
  struct Pending {
    StepResult result;
    torch::Tensor values;           // Step values; in host memory once `is_done` is true.
    torch::Tensor part_squares;     // One per GradientPartNames. Like `values`; may be undefined.
    torch::Tensor expert_totals;    // From ExpertTotals. Like `values`; undefined without experts.
    std::function<bool()> is_done;  // Empty on a CPU, where the step is already done.
    std::chrono::steady_clock::time_point launched;
    bool is_measured = false;
    bool measures_experts = false;
    int64_t contributions = 0;  // Micro-batches of the step over all ranks.
  };

  void SetLossWeights(int64_t rounds, double loss_scale);
  void Rehearse();
  void BeginStep(const StepRequest& request);
  void ForwardBackward(const std::function<TokenBatch()>& next);
  TrainingTokens ToDevice(const TokenBatch& batch);
  std::vector<TrainingTokens> MaskedBatches(const std::function<TrainingTokens()>& next_on_device);
  bool MeasuresNoise() const;
  void ClipUnits();
  void UnscaleSums();
  void SumStepValues();
  void SumPartSquares();
  void UpdateWeights();
  void CopyResult(Pending& pending);
  void CheckPresence(const Pending& pending) const;
  std::optional<BatchGradients> BatchesOf(const Pending& pending) const;
  std::vector<LayerBalance> ExpertsOf(const Pending& pending) const;

  Parts parts_;
  WeightGradients gradients_;
  GradientReduction reduction_;
  std::optional<AdaptiveClip> adaptive_clip_;  // None if disabled.
  GroupNorms group_norms_;
  ExpertTotals experts_;
  WeightExchange weights_;
  Pipeline pipeline_;
  bool is_rehearsed_ = false;
  torch::Tensor step_values_;   // On the device.
  torch::Tensor part_squares_;  // On the device; undefined unless part norms were requested.
  bool is_unread_ = false;      // True if a micro-batch of the latest step is unread.
  int64_t rounds_ = 0;          // Rounds of the latest step.
  double loss_scale_ = 1;       // The scale of the latest step.
  // loss_scale_ / (tokens of the global batch), for each row, in the type of the gradients.
  torch::Tensor loss_weights_;
  torch::Tensor expert_totals_;  // On the device; undefined without experts.
  std::deque<Pending> pending_;
  std::chrono::steady_clock::time_point finished_;  // Time at which the latest step finished.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STEP_STEP_RUNNER_H_
