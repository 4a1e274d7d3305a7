// Runs optimizer steps on the device without waiting for them.
#ifndef TRAINYARD_TRAINER_STEP_STEP_RUNNER_H_
#define TRAINYARD_TRAINER_STEP_STEP_RUNNER_H_

#include <c10/core/Event.h>
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
#include "trainer/model/weight_gradients.h"
#include "trainer/optimizer/adamw.h"
#include "trainer/parallel/rank_groups.h"
#include "trainer/parallel/step_clock.h"
#include "trainer/step/adaptive_clip.h"
#include "trainer/step/gradient_noise.h"
#include "trainer/step/gradient_reduction.h"
#include "trainer/step/group_norms.h"
#include "trainer/step/pipeline.h"
#include "trainer/step/weight_exchange.h"

namespace trainyard::trainer {

// Numbers of one optimizer step, the same on every rank.
struct StepResult {
  int64_t step = 0;
  double loss = 0;       // Mean over the predictions of the global batch that count.
  double grad_norm = 0;  // Before optimizer.clip_grad, and behind adaptive clipping.
  double learning_rate = 0;
  bool is_finite = true;     // False: the step has changed no weight.
  bool stop = false;         // Some rank was asked to stop before the step.
  bool save = false;         // Some rank was asked to save before the step.
  double snapshot_cost = 0;  // Of StepRequest, summed over the ranks.
  double seconds = 0;        // From the end of the step before, or from the launch after a pause.
  std::optional<StepTimes> times;         // Of this rank, where they were asked for.
  int64_t clipped_units = 0;              // By optimizer.adaptive_clip.
  std::vector<double> part_norms;         // Of GradientPartNames, where they were asked for.
  std::optional<BatchGradients> batches;  // With train.gradient_noise_scale.
};

struct StepRequest {
  int64_t step = 0;    // Number of the step, from 1.
  int64_t rounds = 0;  // Micro-batches of each rank in the step.
  double learning_rate = 0;
  bool stop = false;         // This rank was asked to stop.
  bool save = false;         // This rank was asked to save.
  bool measure = false;      // Split its time among its parts.
  double snapshot_cost = 0;  // Time for which this rank's newest snapshot has delayed it, in steps.
  bool part_norms = false;  // Also the gradient norms of the model's parts; the same on every rank.
};

// A step: forward and backward of this rank's micro-batches, sums over the ranks, norm, update. All
// of it is queued on the device; the results come later. One thread at a time; everything given
// must outlive this.
class StepRunner {
 public:
  struct Parts {
    const RunConfig& config;
    Decoder& model;
    AdamW& optimizer;
    const RankGroups& groups;
    StepClock& clock;  // Which counts the waits of the groups.
    torch::Device device;
  };

  explicit StepRunner(const Parts& parts);

  // Queues a step. next: hands over the rank's next micro-batch. before_update is called when
  // everything before the change of the weights is queued.
  void Launch(const StepRequest& request, const std::function<TokenBatch()>& next,
              const std::function<void()>& before_update);

  // Steps that are launched and not finished.
  int64_t pending() const { return static_cast<int64_t>(pending_.size()); }

  // Waits for the oldest of them. Throws TrainerError(kPeerLost) when a peer is gone, or has left
  // the gang before the end of the step, whose values are of no use then.
  StepResult Finish();

  const Pipeline& pipeline() const { return pipeline_; }

 private:
  struct Pending {
    StepResult result;
    torch::Tensor values;            // Step values, in host memory once `done`.
    torch::Tensor part_squares;      // Likewise, of GradientPartNames; may be undefined.
    std::optional<c10::Event> done;  // None on a CPU: done at once.
    std::chrono::steady_clock::time_point launched;
    bool is_measured = false;
    int64_t contributions = 0;  // Micro-batches of the step over all ranks.
  };

  void SetRounds(int64_t rounds);
  void Rehearse();
  void ForwardBackward(const std::function<TokenBatch()>& next);
  TrainingTokens ToDevice(const TokenBatch& batch);
  std::vector<TrainingTokens> MaskedBatches(const std::function<TrainingTokens()>& next_on_device);
  bool MeasuresNoise() const;
  bool CountsSquares() const;
  void ClipUnits();
  void SumStepValues();
  void SumPartSquares();
  void UpdateWeights();
  void CopyResult(Pending& pending);
  void CheckPresence(const Pending& pending) const;
  torch::Tensor ToHost(const torch::Tensor& values) const;
  std::optional<BatchGradients> BatchesOf(const Pending& pending) const;

  Parts parts_;
  WeightGradients gradients_;
  GradientReduction reduction_;
  std::optional<AdaptiveClip> adaptive_clip_;  // None where it is off.
  GroupNorms group_norms_;
  WeightExchange weights_;
  Pipeline pipeline_;
  bool is_rehearsed_ = false;
  torch::Tensor step_values_;   // On the device.
  torch::Tensor part_squares_;  // Likewise; undefined in a step that does not need them.
  int64_t rounds_ = 0;          // Of the newest step.
  torch::Tensor loss_weights_;  // One divided by the tokens of its global batch, for each row.
  std::deque<Pending> pending_;
  std::chrono::steady_clock::time_point finished_;  // The newest finished step.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_STEP_STEP_RUNNER_H_
