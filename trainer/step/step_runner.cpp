#include "trainer/step/step_runner.h"

#include <torch/utils.h>

#include <algorithm>
#include <limits>
#include <string>

#include "trainer/config/trainer_error.h"
#include "trainer/kernels/optimizer/step_values.h"
#include "trainer/model/attention/documents.h"
#include "trainer/ops/host_copy.h"
#include "trainer/step/expert_bias_update.h"

namespace trainyard::trainer {
namespace {

using Clock = std::chrono::steady_clock;
using torch::Tensor;

// Copies to device memory without blocking the caller. `host` must be in page-locked memory, which
// LibTorch does not reuse before the copy has completed.
Tensor Upload(const Tensor& host, torch::Device device) {
  return device.is_cuda() ? host.pin_memory().to(device, /*non_blocking=*/true) : host.clone();
}

double ValueOf(const Tensor& step_values, StepValue which) {
  return step_values.data_ptr<double>()[static_cast<int64_t>(which)];
}

void SetValue(Tensor& step_values, StepValue which, double value) {
  step_values.data_ptr<double>()[static_cast<int64_t>(which)] = value;
}

}  // namespace

StepRunner::StepRunner(const Parts& parts)
    : parts_(parts),
      gradients_(parts.model.parameters(), parts.config.layout.zero_bubble
                                               ? WeightGradients::Timing::kDeferred
                                               : WeightGradients::Timing::kAtOnce),
      reduction_(parts.model.parameters(), parts.optimizer, gradients_, parts.groups,
                 parts.model.shared_embedding_group()),
      group_norms_(parts.config.model, parts.model.parameters(), parts.optimizer),
      experts_(parts.model.expert_balance(), *parts.groups.world),
      weights_(parts.model, parts.model.parameters(), parts.groups),
      pipeline_(parts.model, parts.groups.links, parts.config.layout.zero_bubble) {
  gradients_.OnGroupFinished([this](int64_t group) { reduction_.OnGroupFinished(group); });
  parts.model.UseWeights(weights_);
  const double ratio = parts.config.optimizer.adaptive_clip;
  if (ratio > 0) adaptive_clip_.emplace(ratio, parts.config.model, parts.model, parts.groups);
}

void StepRunner::Launch(const StepRequest& request, const std::function<TokenBatch()>& next,
                        const std::function<void()>& before_update) {
  const torch::NoGradGuard no_grad;
  Pending pending;
  pending.launched = Clock::now();
  pending.result.step = request.step;
  pending.result.learning_rate = request.learning_rate;
  SetLossWeights(request.rounds, request.loss_scale);
  if (!is_rehearsed_) Rehearse();
  if (request.measure) parts_.clock.Begin();
  pending.is_measured = parts_.clock.is_measuring();
  Tensor values =
      parts_.optimizer.HostStepValues(request.step - request.skipped_steps, request.learning_rate);
  SetValue(values, StepValue::kStopRequested, request.stop ? 1 : 0);
  SetValue(values, StepValue::kSaveRequested, request.save ? 1 : 0);
  SetValue(values, StepValue::kSnapshotCost, request.snapshot_cost);
  step_values_ = Upload(values, parts_.device);
  pending.measures_experts = request.experts;
  BeginStep(request);
  ForwardBackward(next);
  reduction_.Finish();
  if (MeasuresNoise()) {
    parts_.optimizer.SumSquares(StepValue::kBigBatchSquares, step_values_);
    reduction_.small_batch().Finish(step_values_);
  }
  if (adaptive_clip_.has_value()) ClipUnits();
  part_squares_ = Tensor();
  if (request.part_norms) SumPartSquares();
  expert_totals_ = experts_.Sum(loss_scale_);
  if (Fp8Parameters* fp8 = parts_.model.fp8()) fp8->scaling().ShareAmax();
  // The last sum of a step, which shows whether all ranks took part in the whole step.
  parts_.presence.Write(static_cast<double>(request.step),
                        step_values_[static_cast<int64_t>(StepValue::kPresence)]);
  SumStepValues();
  {
    const StepPartScope waiting(&parts_.clock, StepPart::kCheckpointWait);
    before_update();
  }
  UpdateWeights();
  parts_.clock.End();
  pending.contributions = rounds_ * parts_.config.layout.dp;
  CopyResult(pending);
  pending_.push_back(std::move(pending));
}

// The noise scale needs at least two micro-batches over all ranks. The first steps of a batch
// ramp-up may have only one micro-batch.
bool StepRunner::MeasuresNoise() const {
  return parts_.config.train.gradient_noise_scale && rounds_ * parts_.config.layout.dp > 1;
}

// Adapts the loss weights to the number of micro-batches, which grows in a batch ramp-up, and to
// the loss scale. Creates a new tensor, because the previous step may still be using the old one.
void StepRunner::SetLossWeights(int64_t rounds, double loss_scale) {
  if (rounds == rounds_ && loss_scale == loss_scale_) return;
  rounds_ = rounds;
  loss_scale_ = loss_scale;
  const LayoutConfig& layout = parts_.config.layout;
  const int64_t rows = layout.micro_batch * parts_.config.train.seq_length;
  const double share = loss_scale / static_cast<double>(rows * layout.dp * rounds);
  loss_weights_ = torch::full({rows}, share, parts_.model.parameters().gradients().options());
}

// Prepares a pipeline stage for its first step (Pipeline::Rehearse) and drops the resulting
// gradients.
void StepRunner::Rehearse() {
  is_rehearsed_ = true;
  if (parts_.model.place().stages == 1) return;
  ParameterStore& store = parts_.model.parameters();
  WeightGradients unused(store);
  const Tensor tokens =
      torch::zeros({parts_.config.layout.micro_batch, parts_.config.train.seq_length + 1},
                   torch::dtype(torch::kInt64).device(parts_.device));
  pipeline_.Rehearse({tokens, loss_weights_}, unused);
  for (int64_t group = 0; group < static_cast<int64_t>(store.groups().size()); ++group) {
    store.DropGradients(group);
  }
}

void StepRunner::BeginStep(const StepRequest& request) {
  is_unread_ = false;
  gradients_.BeginStep();
  experts_.BeginStep(request.experts);
  if (Fp8Parameters* fp8 = parts_.model.fp8()) fp8->scaling().BeginStep();
  if (parts_.model.mtp_loss().defined()) parts_.model.mtp_loss().zero_();
  reduction_.BeginStep(rounds_, MeasuresNoise());
}

// Computes this rank's share of the gradients and of the mean loss of the global batch. The sum of
// the shares over all ranks is the whole. Tensor-parallel ranks have equal losses, so only the
// first of them counts its loss.
void StepRunner::ForwardBackward(const std::function<TokenBatch()>& next) {
  Tensor loss = step_values_[static_cast<int64_t>(StepValue::kLoss)];
  const auto next_on_device = [&] {
    const StepPartScope waiting(&parts_.clock, StepPart::kInputWait);
    return ToDevice(next());
  };
  std::vector<TrainingTokens> masked;
  if (parts_.config.data.eod_mask_loss) masked = MaskedBatches(next_on_device);
  pipeline_.Train({.count = rounds_,
                   .samples = parts_.config.layout.micro_batch,
                   .length = parts_.config.train.seq_length,
                   .tokens =
                       [&](int64_t round) {
                         return masked.empty() ? next_on_device() : std::move(masked[round]);
                       }},
                  loss, gradients_);
  const bool counts_loss = parts_.groups.tensor->rank() == 0;
  if (!counts_loss) loss.zero_();
  const Tensor mtp_loss = parts_.model.mtp_loss();
  if (!counts_loss || !mtp_loss.defined()) return;
  step_values_[static_cast<int64_t>(StepValue::kMtpLoss)].copy_(mtp_loss);
}

// Returns all micro-batches of the step. Masked predictions get weight 0, and the weights of the
// other predictions grow by the same factor, so that the loss is the mean over the counted
// predictions. The factor is known only when all ranks have read their micro-batches, because it
// depends on the number of counted predictions in the global batch.
std::vector<TrainingTokens> StepRunner::MaskedBatches(
    const std::function<TrainingTokens()>& next_on_device) {
  std::vector<TrainingTokens> batches;
  Tensor counted = torch::zeros({}, torch::dtype(torch::kFloat64).device(parts_.device));
  for (int64_t round = 0; round < rounds_; ++round) {
    TrainingTokens batch = next_on_device();
    const Tensor counts = CountedPredictions(batch.tokens, parts_.config.data.eod_token);
    batch.loss_weights = batch.loss_weights * counts;
    counted += counts.sum(torch::kFloat64);
    batches.push_back(std::move(batch));
  }
  parts_.groups.world->AllReduce(counted).Wait();
  // The sum counts each prediction tp * cp * pp times: that many ranks have the same tokens.
  const LayoutConfig& layout = parts_.config.layout;
  const auto all = static_cast<double>(loss_weights_.numel() * rounds_ * layout.dp * layout.tp *
                                       layout.cp * layout.pp);
  const Tensor share = (all / counted.clamp_min(1)).to(loss_weights_.scalar_type());
  for (TrainingTokens& batch : batches) batch.loss_weights.mul_(share);
  return batches;
}

TrainingTokens StepRunner::ToDevice(const TokenBatch& batch) {
  is_unread_ = is_unread_ || batch.is_unread;
  const auto rows = static_cast<int64_t>(batch.samples.size());
  const Tensor tokens = torch::from_blob(const_cast<int64_t*>(batch.tokens.data()),
                                         {rows, batch.row_tokens}, torch::kInt64);
  const double share = loss_scale_ / static_cast<double>(rounds_ * parts_.config.layout.dp);
  if (batch.prediction_weights.empty()) {
    return {Upload(tokens, parts_.device), loss_weights_, share};
  }
  const Tensor weights = torch::from_blob(const_cast<float*>(batch.prediction_weights.data()),
                                          {loss_weights_.numel()}, torch::kFloat32);
  return {Upload(tokens, parts_.device), Upload(weights, parts_.device).mul_(loss_weights_), share};
}

void StepRunner::ClipUnits() {
  adaptive_clip_->Apply(loss_scale_, step_values_);
  const auto groups = static_cast<int64_t>(parts_.model.parameters().groups().size());
  for (int64_t group = 0; group < groups; ++group) parts_.optimizer.MeasureGroup(group);
}

// Removes the loss scale from this rank's loss and squares. The gradients remain scaled; AdamW
// removes the scale from each gradient that it reads.
void StepRunner::UnscaleSums() {
  if (loss_scale_ == 1) return;
  const auto value = [&](StepValue which) { return step_values_[static_cast<int64_t>(which)]; };
  const double of_square = loss_scale_ * loss_scale_;
  value(StepValue::kLoss).div_(loss_scale_);
  value(StepValue::kMtpLoss).div_(loss_scale_);
  for (const StepValue which :
       {StepValue::kSquaredNorm, StepValue::kBigBatchSquares, StepValue::kSmallBatchSquares}) {
    value(which).div_(of_square);
  }
}

void StepRunner::SumStepValues() {
  parts_.optimizer.SumSquares(StepValue::kSquaredNorm, step_values_);
  UnscaleSums();
  if (is_unread_) {
    step_values_[static_cast<int64_t>(StepValue::kLoss)] = std::numeric_limits<double>::quiet_NaN();
    step_values_[static_cast<int64_t>(StepValue::kUnread)] = 1;
  }
  const auto first = static_cast<int64_t>(StepValue::kLoss);
  parts_.groups.world->AllReduce(step_values_.narrow(0, first, kSummedStepValues)).Wait();
}

void StepRunner::SumPartSquares() {
  part_squares_ = group_norms_.Squares().div_(loss_scale_ * loss_scale_);
  parts_.groups.world->AllReduce(part_squares_).Wait();
}

// Updates the groups in the order of the next forward pass, because the exchange of the new weights
// overlaps with this pass.
void StepRunner::UpdateWeights() {
  const StepPartScope updating(&parts_.clock, StepPart::kOptimizer);
  parts_.optimizer.FinishGradientNorm(step_values_);
  if (loss_scale_ != 1) {
    step_values_[static_cast<int64_t>(StepValue::kGradientScale)].div_(loss_scale_);
  }
  const auto groups = static_cast<int64_t>(parts_.model.parameters().groups().size());
  for (int64_t group = groups - 1; group >= 0; --group) {
    parts_.optimizer.UpdateGroup(group, step_values_);
    weights_.OnUpdated(group);
  }
  if (Tensor& bias = parts_.model.expert_balance().bias; bias.defined()) {
    UpdateExpertBias(LoadsOf(expert_totals_), parts_.config.model.moe_router_bias_update_rate,
                     step_values_, bias);
  }
  if (Fp8Parameters* fp8 = parts_.model.fp8()) {
    fp8->scaling().EndStep(step_values_[static_cast<int64_t>(StepValue::kFinite)]);
    fp8->OnWeightsChanged();
  }
}

void StepRunner::CopyResult(Pending& pending) {
  pending.values = QueueHostCopy(step_values_);
  pending.part_squares = QueueHostCopy(part_squares_);
  pending.expert_totals = QueueHostCopy(expert_totals_);
  pending.is_done = CompletionOfQueue(parts_.device);
}

// A contribution is one micro-batch. Its gradient is the mean gradient of its samples, divided by
// the number of contributions. The factor contributions^2 undoes this division in the squared norm.
std::optional<BatchGradients> StepRunner::BatchesOf(const Pending& pending) const {
  if (!parts_.config.train.gradient_noise_scale || pending.contributions < 2) return std::nullopt;
  const auto contributions = static_cast<double>(pending.contributions);
  const LayoutConfig& layout = parts_.config.layout;
  return BatchGradients{.small_squares = ValueOf(pending.values, StepValue::kSmallBatchSquares) *
                                         contributions * contributions /
                                         static_cast<double>(layout.dp),
                        .big_squares = ValueOf(pending.values, StepValue::kBigBatchSquares),
                        .small_samples = layout.micro_batch,
                        .big_samples = layout.micro_batch * pending.contributions};
}

std::vector<LayerBalance> StepRunner::ExpertsOf(const Pending& pending) const {
  const bool is_finite = ValueOf(pending.values, StepValue::kFinite) != 0;
  const bool is_needed = pending.measures_experts || !is_finite;
  if (!is_needed || !pending.expert_totals.defined()) return {};
  return ReadExpertTotals(parts_.config.model, pending.expert_totals);
}

// If a member aborts its groups to reconnect, NCCL's kernels on other ranks may end with arbitrary
// data. The sum of kPresence is then wrong.
void StepRunner::CheckPresence(const Pending& pending) const {
  const int64_t step = pending.result.step;
  const auto all = static_cast<double>(parts_.groups.world->size() * step);
  if (ValueOf(pending.values, StepValue::kPresence) == all) return;
  throw TrainerError(ExitCode::kPeerLost,
                     "Lost a peer in step " + std::to_string(step) + ": a rank has left the gang.");
}

StepResult StepRunner::Finish() {
  Pending pending = std::move(pending_.front());
  pending_.pop_front();
  if (pending.is_done) parts_.groups.world->WaitUntil(pending.is_done);
  CheckPresence(pending);
  StepResult result = pending.result;
  if (pending.is_measured) result.times = parts_.clock.Collect();
  result.loss = ValueOf(pending.values, StepValue::kLoss);
  result.mtp_loss =
      ValueOf(pending.values, StepValue::kMtpLoss) / parts_.config.model.mtp_loss_scaling_factor;
  result.grad_norm = ValueOf(pending.values, StepValue::kGradientNorm);
  result.is_finite = ValueOf(pending.values, StepValue::kFinite) != 0;
  result.stop = ValueOf(pending.values, StepValue::kStopRequested) > 0;
  result.save = ValueOf(pending.values, StepValue::kSaveRequested) > 0;
  result.is_unread = ValueOf(pending.values, StepValue::kUnread) > 0;
  result.snapshot_cost = ValueOf(pending.values, StepValue::kSnapshotCost);
  result.clipped_units = static_cast<int64_t>(ValueOf(pending.values, StepValue::kClippedUnits));
  if (result.is_finite) result.batches = BatchesOf(pending);
  result.experts = ExpertsOf(pending);
  if (result.is_finite && pending.part_squares.defined()) {
    const Tensor norms = pending.part_squares.sqrt();
    result.part_norms.assign(norms.data_ptr<double>(), norms.data_ptr<double>() + norms.numel());
  }
  const auto now = Clock::now();
  result.seconds =
      std::chrono::duration<double>(now - std::max(pending.launched, finished_)).count();
  finished_ = now;
  return result;
}

}  // namespace trainyard::trainer
