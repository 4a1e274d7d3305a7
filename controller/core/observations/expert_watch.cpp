#include "controller/core/observations/expert_watch.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "proto/contract/expert_load.h"

namespace trainyard::controller {
namespace {

using Kind = ExpertProblem::Kind;

// Returns the balance from which a layer counts as collapsed.
double CollapsedBalance(int64_t experts, int64_t topk) {
  return 1 + kCollapsedShare * (WorstBalance(experts, topk) - 1);
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
  const bool begins_anew =
      record.step() <= step_ || record.experts() != experts_ || record.topk() != topk_;
  if (begins_anew) layers_.clear();
  step_ = record.step();
  experts_ = record.experts();
  topk_ = record.topk();
  for (int i = 0; i < record.balance_size(); ++i) AddLayer(record, i);
}

void ExpertWatch::AddLayer(const v1::ExpertsRecord& record, int index) {
  Layer& layer = layers_[record.first_layer() + index];
  layer.balance = record.balance(index);
  layer.collapsed.Add(experts_ > topk_ && layer.balance >= CollapsedBalance(experts_, topk_),
                      step_);
  if (record.entropy_size() > index) {
    layer.entropy = record.entropy(index);
    layer.certain.Add(topk_ > 1 && layer.entropy < kLowEntropy, step_);
  }
  if (record.dropped_size() > index) {
    layer.dropped = record.dropped(index);
    layer.dropping.Add(layer.dropped > kMuchDropped, step_);
  }
  const auto experts = static_cast<std::size_t>(experts_);
  const std::size_t begin = static_cast<std::size_t>(index) * experts;
  if (record.load().size() < begin + experts) return;
  layer.idle.resize(experts);
  for (std::size_t i = 0; i < experts; ++i) {
    layer.idle[i].Add(record.load()[begin + i] == 0, step_);
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
    const ExpertProblem problem = ProblemOf(kind, number, layer);
    if (problem.since_step == 0) continue;
    ++layers;
    if (!worst.has_value() || IsWorse(problem, *worst)) worst = problem;
  }
  if (!worst.has_value()) return;
  worst->layers = layers;
  problems.push_back(*worst);
}

ExpertProblem ExpertWatch::ProblemOf(Kind kind, int64_t number, const Layer& layer) const {
  ExpertProblem problem{.kind = kind, .layer = number, .experts = experts_, .topk = topk_};
  const auto judge = [&](const Streak& streak, double value) {
    problem.value = value;
    if (streak.records >= kExpertRecordsInARow) problem.since_step = streak.first_step;
    return problem;
  };
  if (kind == Kind::kCollapsed) return judge(layer.collapsed, layer.balance);
  if (kind == Kind::kCertain) return judge(layer.certain, layer.entropy);
  if (kind == Kind::kDropping) return judge(layer.dropping, layer.dropped);
  for (std::size_t i = 0; i < layer.idle.size(); ++i) {
    const Streak& idle = layer.idle[i];
    if (idle.records < kIdleRecordsInARow) continue;
    if (problem.value++ == 0) problem.expert = static_cast<int64_t>(i);
    problem.since_step =
        problem.since_step == 0 ? idle.first_step : std::min(problem.since_step, idle.first_step);
  }
  return problem;
}

}  // namespace trainyard::controller
