#include "controller/core/observations/expert_watch.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "controller/core/support/expert_shape.h"

namespace trainyard::controller {
namespace {

using Kind = ExpertProblem::Kind;

// Returns the balance from which a layer counts as collapsed.
double CollapsedBalance(const ExpertShape& shape) {
  return 1 + kCollapsedShare * (WorstBalance(shape.experts, shape.topk) - 1);
}

// Returns true if the first problem is worse than the second.
bool IsWorse(const ExpertProblem& a, const ExpertProblem& b) {
  return a.kind == Kind::kCertain ? a.value < b.value : a.value > b.value;
}

}  // namespace

void ExpertWatch::Streak::Add(bool is_so, int64_t step) {
  if (!is_so) records = 0;
  if (is_so && records++ == 0) first_step = step;
}

void ExpertWatch::Add(const v1::ExpertsRecord& record) {
  const ExpertShape shape = ExpertShapeOf(record);
  if (layers_.empty() || record.step() <= newest_step_ || shape != shape_) {
    layers_.clear();
    oldest_step_ = record.step();
    shape_ = shape;
  }
  newest_step_ = record.step();
  for (int i = 0; i < record.balance_size(); ++i) AddLayer(record, i);
}

void ExpertWatch::AddLayer(const v1::ExpertsRecord& record, int index) {
  Layer& layer = layers_[shape_.first_layer + index];
  layer.balance = record.balance(index);
  layer.collapsed.Add(shape_.experts > shape_.topk && layer.balance >= CollapsedBalance(shape_),
                      newest_step_);
  if (record.entropy_size() > index) {
    layer.entropy = record.entropy(index);
    layer.certain.Add(shape_.topk > 1 && layer.entropy < kLowEntropy, newest_step_);
  }
  if (record.dropped_size() > index) {
    layer.dropped = record.dropped(index);
    layer.dropping.Add(layer.dropped > kMuchDropped, newest_step_);
  }
  const auto experts = static_cast<std::size_t>(shape_.experts);
  const std::size_t begin = static_cast<std::size_t>(index) * experts;
  if (record.load().size() < begin + experts) return;
  layer.idle.resize(experts);
  for (std::size_t i = 0; i < experts; ++i) {
    layer.idle[i].Add(record.load()[begin + i] == 0, newest_step_);
  }
}

std::vector<ExpertProblem> ExpertWatch::Problems() const {
  std::vector<ExpertProblem> problems;
  for (const Kind kind : {Kind::kCollapsed, Kind::kCertain, Kind::kDropping, Kind::kIdle}) {
    AddProblem(kind, problems);
  }
  return problems;
}

void ExpertWatch::AddProblem(Kind kind, std::vector<ExpertProblem>& problems) const {
  std::optional<ExpertProblem> worst;
  int64_t layers = 0;
  for (const auto& [number, layer] : layers_) {
    const std::optional<ExpertProblem> problem = ProblemOf(kind, number, layer);
    if (!problem.has_value()) continue;
    ++layers;
    if (!worst.has_value() || IsWorse(*problem, *worst)) worst = problem;
  }
  if (!worst.has_value()) return;
  worst->layers = layers;
  problems.push_back(*worst);
}

std::optional<ExpertProblem> ExpertWatch::ProblemOf(Kind kind, int64_t number,
                                                    const Layer& layer) const {
  const auto judge = [&](const Streak& streak, double value) -> std::optional<ExpertProblem> {
    if (streak.records < kExpertRecordsInARow) return std::nullopt;
    return Problem(kind, number, value, streak.first_step);
  };
  if (kind == Kind::kCollapsed) return judge(layer.collapsed, layer.balance);
  if (kind == Kind::kCertain) return judge(layer.certain, layer.entropy);
  if (kind == Kind::kDropping) return judge(layer.dropping, layer.dropped);
  return IdleExpertsOf(number, layer);
}

std::optional<ExpertProblem> ExpertWatch::IdleExpertsOf(int64_t number, const Layer& layer) const {
  std::optional<std::size_t> first;
  int64_t count = 0;
  int64_t since_step = newest_step_;
  for (std::size_t i = 0; i < layer.idle.size(); ++i) {
    const Streak& idle = layer.idle[i];
    if (idle.records < kIdleRecordsInARow) continue;
    if (!first.has_value()) first = i;
    ++count;
    since_step = std::min(since_step, idle.first_step);
  }
  if (!first.has_value()) return std::nullopt;
  ExpertProblem problem = Problem(Kind::kIdle, number, static_cast<double>(count), since_step);
  problem.expert = static_cast<int64_t>(*first);
  return problem;
}

ExpertProblem ExpertWatch::Problem(Kind kind, int64_t number, double value,
                                   int64_t since_step) const {
  return {.kind = kind,
          .layer = number,
          .value = value,
          .since_step = since_step,
          .maybe_earlier = since_step == oldest_step_ && since_step > 1,
          .experts = shape_.experts,
          .topk = shape_.topk};
}

}  // namespace trainyard::controller
