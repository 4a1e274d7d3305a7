#include "trainer/step/expert_totals.h"

#include <algorithm>
#include <numeric>

#include "proto/model/model_size.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Columns that follow the columns of the experts.
enum Column : int64_t { kDropped, kEntropy, kAuxLoss, kBadRouters, kColumns };

// A step of 2^30 rows, or a balance loss of 2^30, stays within int64.
constexpr double kFigureScale = 1 << 30;

Tensor Rounded(const Tensor& figures, RouterFigure figure, double factor = 1) {
  const Tensor column = figures.select(1, static_cast<int64_t>(figure));
  return at::nan_to_num(column, 0, 0, 0).mul(factor * kFigureScale).round().to(torch::kInt64);
}

}  // namespace

int64_t LayerBalance::rows() const { return std::accumulate(load.begin(), load.end(), int64_t{0}); }

double LayerBalance::balance() const {
  const int64_t all = rows();
  if (all == 0) return 1;
  const int64_t highest = *std::max_element(load.begin(), load.end());
  return static_cast<double>(highest) * static_cast<double>(load.size()) / static_cast<double>(all);
}

void ExpertTotals::BeginStep(bool measures) {
  if (!balance_.load.defined()) return;
  balance_.load.zero_();
  balance_.dropped.zero_();
  balance_.figures.zero_();
  balance_.measures = measures;
}

Tensor ExpertTotals::Sum(double loss_scale) const {
  if (!balance_.load.defined()) return {};
  const Tensor logits = balance_.figures.select(1, static_cast<int64_t>(RouterFigure::kLogits));
  const Tensor columns =
      torch::stack({balance_.dropped, Rounded(balance_.figures, RouterFigure::kEntropy),
                    Rounded(balance_.figures, RouterFigure::kAuxLoss, 1 / loss_scale),
                    logits.isfinite().logical_not().to(torch::kInt64)},
                   1);
  Tensor totals = torch::cat({balance_.load, columns}, 1);
  world_.AllReduce(totals).Wait();
  return totals;
}

Tensor LoadsOf(const Tensor& totals) { return totals.narrow(1, 0, totals.size(1) - kColumns); }

std::vector<LayerBalance> ReadExpertTotals(const ModelConfig& model, const Tensor& totals) {
  const int64_t experts = totals.size(1) - kColumns;
  std::vector<LayerBalance> layers;
  for (int64_t layer = 0; layer < totals.size(0); ++layer) {
    if (!HasExpertsIn(layer, model)) continue;
    const int64_t* row = totals.data_ptr<int64_t>() + layer * totals.size(1);
    const int64_t* columns = row + experts;
    LayerBalance& read = layers.emplace_back();
    read.layer = layer;
    read.load.assign(row, columns);
    read.dropped = columns[kDropped];
    const auto tokens =
        static_cast<double>(read.rows()) / static_cast<double>(model.moe_router_topk);
    const auto figure = [&](Column column) {
      return static_cast<double>(columns[column]) / kFigureScale;
    };
    read.entropy = tokens > 0 ? figure(kEntropy) / tokens : 0;
    read.aux_loss = figure(kAuxLoss);
    read.is_finite = columns[kBadRouters] == 0;
  }
  return layers;
}

std::optional<int64_t> FirstBadRouter(const std::vector<LayerBalance>& layers) {
  const auto bad = std::find_if(layers.begin(), layers.end(),
                                [](const LayerBalance& layer) { return !layer.is_finite; });
  return bad == layers.end() ? std::nullopt : std::optional<int64_t>(bad->layer);
}

}  // namespace trainyard::trainer
