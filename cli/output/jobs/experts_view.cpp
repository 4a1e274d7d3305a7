#include "cli/output/jobs/experts_view.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/output/files/stable_json.h"
#include "cli/output/terminal/readable.h"
#include "proto/contract/expert_load.h"

namespace trainyard::cli {
namespace {

std::string BusiestText(const v1::LayerBalance& layer) {
  if (layer.load().empty()) return kNothing;
  const auto busiest = std::max_element(layer.load().begin(), layer.load().end());
  return absl::StrCat("expert ", busiest - layer.load().begin());
}

std::string IdleText(const v1::LayerBalance& layer) {
  if (layer.load().empty()) return kNothing;
  return absl::StrCat(std::count(layer.load().begin(), layer.load().end(), 0.0));
}

Row RowOf(const v1::LayerBalance& layer, int worst_layer) {
  Row row;
  row.name = absl::StrCat(layer.layer());
  row.cells = {row.name,
               NumberText(layer.balance(), 4),
               layer.has_entropy() ? NumberText(layer.entropy(), 3) : kNothing,
               layer.has_aux_loss() ? NumberText(layer.aux_loss(), 4) : kNothing,
               layer.has_dropped() ? absl::StrFormat("%.1f %%", 100 * layer.dropped()) : kNothing,
               BusiestText(layer),
               IdleText(layer)};
  row.document = StableJson(layer);
  if (layer.layer() == worst_layer) row.red_cell = 1;
  return row;
}

}  // namespace

std::string BalanceText(const v1::ExpertBalance& balance) {
  const auto worst = std::find_if(
      balance.layers().begin(), balance.layers().end(),
      [&](const v1::LayerBalance& layer) { return layer.layer() == balance.worst_layer(); });
  if (worst == balance.layers().end()) return "";
  return absl::StrCat("step ", balance.step(), ", attempt ", balance.attempt(), ": ",
                      balance.experts(), " experts per layer, ", balance.topk(),
                      " per token. Layer ", worst->layer(),
                      " has the least even load: its busiest expert has ",
                      NumberText(worst->balance(), 3), " times the mean (even: 1, worst: ",
                      NumberText(WorstBalance(balance.experts(), balance.topk()), 3), ").");
}

Listing BalanceListing(const v1::ExpertBalance& balance) {
  Listing listing;
  listing.columns = {{"LAYER", true},       {"BALANCE", true}, {"ENTROPY", true},
                     {"AUX LOSS", true},    {"DROPPED", true}, {"BUSIEST"},
                     {"WITHOUT ROWS", true}};
  for (const v1::LayerBalance& layer : balance.layers()) {
    listing.rows.push_back(RowOf(layer, balance.worst_layer()));
  }
  return listing;
}

}  // namespace trainyard::cli
