#include "trainer/report/expert_values.h"

#include <algorithm>

#include "proto/contract/expert_load.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/model/balance_loss.h"

namespace trainyard::trainer {
namespace {

double DroppedShare(const LayerBalance& layer) {
  const int64_t rows = layer.rows();
  return rows == 0 ? 0 : static_cast<double>(layer.dropped) / static_cast<double>(rows);
}

void AddCodes(const LayerBalance& layer, std::vector<std::uint8_t>& codes) {
  const double mean = static_cast<double>(layer.rows()) / static_cast<double>(layer.load.size());
  for (const int64_t load : layer.load) {
    codes.push_back(ExpertLoadCode(mean == 0 ? 0 : static_cast<double>(load) / mean));
  }
}

}  // namespace

MetricValues ExpertValues(const ModelConfig& model, const std::vector<LayerBalance>& layers) {
  if (layers.empty()) return {};
  double highest = 0, sum = 0, aux_loss = 0, entropy = 1;
  int64_t dropped = 0, rows = 0;
  for (const LayerBalance& layer : layers) {
    highest = std::max(highest, layer.balance());
    sum += layer.balance();
    aux_loss += layer.aux_loss;
    entropy = std::min(entropy, layer.entropy);
    dropped += layer.dropped;
    rows += layer.rows();
  }
  const auto count = static_cast<double>(layers.size());
  MetricValues values = {
      {telemetry::kMoeBalanceMax, highest},
      {telemetry::kMoeBalanceMean, sum / count},
      {telemetry::kMoeRouterEntropyMin, entropy},
      {telemetry::kMoeDroppedShare,
       rows == 0 ? 0 : static_cast<double>(dropped) / static_cast<double>(rows)}};
  if (HasBalanceLoss(model)) values.emplace_back(telemetry::kMoeAuxLoss, aux_loss / count);
  return values;
}

ExpertsReport ExpertsReportOf(int64_t step, const ModelConfig& model,
                              const std::vector<LayerBalance>& layers) {
  ExpertsReport report;
  report.step = step;
  report.first_layer = layers.front().layer;
  report.experts = model.num_experts;
  report.topk = model.moe_router_topk;
  const bool fits = layers.size() * layers.front().load.size() <= kMaxExpertLoads;
  for (const LayerBalance& layer : layers) {
    if (fits) AddCodes(layer, report.load);
    report.balance.push_back(layer.balance());
    report.entropy.push_back(layer.entropy);
    report.dropped.push_back(DroppedShare(layer));
    if (HasBalanceLoss(model)) report.aux_loss.push_back(layer.aux_loss);
  }
  return report;
}

std::chrono::seconds PauseBetweenExpertRecords(std::size_t loads) {
  constexpr std::size_t kLoadsPerSecond = 256, kShortest = 5;
  return std::chrono::seconds(std::max(kShortest, loads / kLoadsPerSecond));
}

}  // namespace trainyard::trainer
