#include "trainer/step/pipeline_schedule.h"

#include <algorithm>
#include <deque>

namespace trainyard::trainer {
namespace {

using Kind = StageAction::Kind;

// The order of a stage's passes. The micro-batches are divided into groups, each with as many
// micro-batches as there are stages. Each group passes through one chunk after another.
class PassOrder {
 public:
  explicit PassOrder(const PipelinePlace& place) : place_(place) {}

  StageAction Forward(int64_t number) const {
    return {Kind::kForward, ChunkOf(number), MicroBatchOf(number)};
  }
  StageAction Backward(int64_t number) const {
    return {Kind::kBackward, place_.chunks - 1 - ChunkOf(number), MicroBatchOf(number)};
  }

 private:
  int64_t Group() const { return place_.stages * place_.chunks; }
  // With a single chunk, there are no groups, so the number of micro-batches is arbitrary.
  int64_t ChunkOf(int64_t number) const {
    return place_.chunks == 1 ? 0 : number % Group() / place_.stages;
  }
  int64_t MicroBatchOf(int64_t number) const {
    if (place_.chunks == 1) return number;
    return number / Group() * place_.stages + number % place_.stages;
  }

  PipelinePlace place_;
};

// The number of forward passes before the first backward pass.
int64_t WarmUpPasses(const PipelinePlace& place) {
  const int64_t behind = place.stages - 1 - place.stage;
  return place.chunks == 1 ? behind : 2 * behind + (place.chunks - 1) * place.stages;
}

// Deferred weight gradients, which wait for a gap in the schedule.
class WeightGradientQueue {
 public:
  explicit WeightGradientQueue(bool is_used) : is_used_(is_used) {}

  void AddBackward(const StageAction& backward, std::vector<StageAction>& actions) {
    actions.push_back(backward);
    if (is_used_)
      waiting_.push_back({Kind::kWeightGradients, backward.chunk, backward.micro_batch});
  }

  // Moves the oldest weight gradients to `actions` until only `kept` remain.
  void AddUntil(size_t kept, std::vector<StageAction>& actions) {
    while (waiting_.size() > kept) {
      actions.push_back(waiting_.front());
      waiting_.pop_front();
    }
  }

  size_t size() const { return waiting_.size(); }

 private:
  const bool is_used_;
  std::deque<StageAction> waiting_;
};

}  // namespace

std::vector<StageAction> TrainingSchedule(const PipelinePlace& place, int64_t micro_batches,
                                          bool zero_bubble) {
  const PassOrder order(place);
  const int64_t passes = micro_batches * place.chunks;
  const int64_t warm_up = std::min(WarmUpPasses(place), passes);
  WeightGradientQueue weights(zero_bubble);
  // Later stages keep fewer activations, so they have memory to defer more weight gradients.
  const auto kept = static_cast<size_t>(place.stage);
  std::vector<StageAction> actions;
  for (int64_t i = 0; i < warm_up; ++i) actions.push_back(order.Forward(i));
  for (int64_t i = warm_up; i < passes; ++i) {
    actions.push_back(order.Forward(i));
    weights.AddBackward(order.Backward(i - warm_up), actions);
    weights.AddUntil(kept, actions);
  }
  // No forward passes remain. One weight gradient runs after each backward pass.
  for (int64_t i = passes - warm_up; i < passes; ++i) {
    weights.AddBackward(order.Backward(i), actions);
    weights.AddUntil(weights.size() - std::min<size_t>(weights.size(), 1), actions);
  }
  weights.AddUntil(0, actions);
  return actions;
}

std::vector<StageAction> EvaluationSchedule(const PipelinePlace& place, int64_t micro_batches) {
  std::vector<StageAction> actions;
  for (int64_t i = 0; i < micro_batches; ++i) {
    for (int64_t chunk = 0; chunk < place.chunks; ++chunk) {
      actions.push_back({Kind::kForward, chunk, i});
    }
  }
  return actions;
}

std::vector<ChunkPass> ActivationArrivals(const PipelinePlace& place,
                                          const std::vector<StageAction>& schedule_before) {
  std::vector<ChunkPass> arrivals;
  for (const StageAction& action : schedule_before) {
    const int64_t chunk = action.chunk + (place.IsFirstStage() ? 1 : 0);
    if (action.kind == Kind::kForward && chunk < place.chunks) {
      arrivals.push_back({chunk, action.micro_batch});
    }
  }
  return arrivals;
}

std::vector<ChunkPass> GradientArrivals(const PipelinePlace& place,
                                        const std::vector<StageAction>& schedule_after) {
  std::vector<ChunkPass> arrivals;
  for (const StageAction& action : schedule_after) {
    const int64_t chunk = action.chunk - (place.IsLastStage() ? 1 : 0);
    if (action.kind == Kind::kBackward && chunk >= 0) {
      arrivals.push_back({chunk, action.micro_batch});
    }
  }
  return arrivals;
}

PipelinePlace StageBefore(const PipelinePlace& place) {
  PipelinePlace before = place;
  before.stage = (place.stage + place.stages - 1) % place.stages;
  return before;
}

PipelinePlace StageAfter(const PipelinePlace& place) {
  PipelinePlace after = place;
  after.stage = (place.stage + 1) % place.stages;
  return after;
}

}  // namespace trainyard::trainer
