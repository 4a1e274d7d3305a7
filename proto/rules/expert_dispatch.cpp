#include "proto/rules/expert_dispatch.h"

#include <algorithm>

#include "proto/layout/rank_order.h"
#include "proto/model/expert_capacity.h"
#include "proto/rules/planned_features.h"

namespace trainyard {
namespace {

// An assumption, not measured. A balanced router needs only 1.1, but a run needs its memory from
// the first step on, before the router is balanced.
constexpr double kReserve = 1.25;

// Returns the largest possible number of rows at the experts of one rank, relative to the number
// that this rank sends. Each sample sends at most ExpertCapacity rows to an expert. Each token
// sends at most one row to an expert. Requires a capacity.
double RowsAtExperts(const RunConfig& config) {
  const ModelConfig& model = config.model;
  const LayoutConfig& layout = config.layout;
  const auto experts = static_cast<double>(model.num_experts);
  const auto topk = static_cast<double>(model.moe_router_topk);
  const auto ranks = static_cast<double>(layout.ep);  // They send rows to the same experts.
  const auto sharing = static_cast<double>(layout.cp * (HasWholeExperts(layout) ? layout.tp : 1));
  const auto tokens = static_cast<double>(config.train.seq_length);
  const double capacity = static_cast<double>(ExpertCapacity(model, config.train.seq_length));
  const double of_samples = std::max(sharing / ranks, 1.0) * capacity * experts / (topk * tokens);
  return std::min(of_samples, ranks * std::min(1.0, experts / ranks / topk));
}

}  // namespace

ExpertDispatch DispatchAmong(int64_t ranks, int64_t parts, int64_t topk, TokenDispatcher wanted) {
  if (ranks == 1) return ExpertDispatch::kLocal;
  const bool gathers = wanted == TokenDispatcher::kAllgather ||
                       (wanted == TokenDispatcher::kAuto && topk * parts > ranks);
  return gathers ? ExpertDispatch::kAllGather : ExpertDispatch::kAllToAll;
}

ExpertDispatch DispatchOf(const ModelConfig& model, const LayoutConfig& layout) {
  const ExpertSizes sizes = ExpertSizesOf(layout);
  return DispatchAmong(sizes.ranks(), sizes.etp, model.moe_router_topk,
                       layout.moe_token_dispatcher_type);
}

double MeanExpertRows(const ModelConfig& model, const LayoutConfig& layout, double rows) {
  return static_cast<double>(model.moe_router_topk * ExpertSizesOf(layout).etp) * rows;
}

double ReservedExpertRows(const RunConfig& config, double rows) {
  const ModelConfig& model = config.model;
  const LayoutConfig& layout = config.layout;
  const double mean = MeanExpertRows(model, layout, rows);
  if (HasExpertCapacity(model)) return mean * RowsAtExperts(config);
  if (layout.ep == 1 || model.moe_router_force_load_balancing) return mean;
  const auto ranks = static_cast<double>(ExpertSizesOf(layout).ranks());
  const double most_per_row =
      std::min(static_cast<double>(model.moe_router_topk),
               static_cast<double>(model.num_experts) / static_cast<double>(layout.ep));
  return std::min(kReserve * mean, ranks * rows * most_per_row);
}

}  // namespace trainyard
