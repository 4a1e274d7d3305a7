#include "data/stages/run_report.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

namespace trainyard::data {
namespace {

using Json = nlohmann::ordered_json;

double Share(int64_t part, int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(std::max<int64_t>(whole, 1));
}

}  // namespace

std::string ReportJson(const Stage& stage, const Plan& plan, const RunTotals& totals) {
  Json dropped = Json::array();
  for (const auto& [reason, total] : totals.dropped()) {
    dropped.push_back({{"reason", reason},
                       {"documents", total.documents},
                       {"bytes", total.bytes},
                       {"share", Share(total.documents, totals.documents_in())},
                       {"samples", total.samples}});
  }
  const BadLineLog& lines = totals.bad_lines();
  Json report = {{"stage", stage.name},
                 {"settings", stage.settings},
                 {"plan", plan.Hash()},
                 {"files", plan.files().size()},
                 {"blocks", plan.blocks().size()},
                 {"documents_in", totals.documents_in()},
                 {"documents_out", totals.documents_out()},
                 {"bytes_in", totals.bytes_in()},
                 {"bytes_out", totals.bytes_out()},
                 {"bad_lines", lines.bad()},
                 {"repaired", lines.repaired()},
                 {"dropped", std::move(dropped)}};
  if (!stage.details.is_null()) report[stage.name] = stage.details;
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace trainyard::data
