#include "cli/output/jobs/array_view.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/output/files/stable_json.h"
#include "cli/output/terminal/readable.h"
#include "proto/json/enum_text.h"

namespace trainyard::cli {
namespace {

std::string LossCell(bool is_set, double loss) { return is_set ? NumberText(loss) : "-"; }

Row RowOf(const v1::ArrayRow& element) {
  Row row;
  row.cells = {absl::StrCat(element.index()),
               element.job_id() == 0 ? "-" : absl::StrCat(element.job_id()),
               EnumText(element.state()),
               absl::StrCat(element.step()),
               LossCell(element.has_loss(), element.loss()),
               LossCell(element.has_validation_loss(), element.validation_loss())};
  for (const v1::ArraySetting& setting : element.settings()) row.cells.push_back(setting.value());
  row.cells.push_back(OneLine(element.reason()));
  row.name = element.job_id() == 0 ? "" : absl::StrCat(element.job_id());
  row.document = StableJson(element);
  return row;
}

}  // namespace

Listing ArrayListing(const v1::GetArrayResponse& response) {
  Listing listing;
  listing.columns = {{"INDEX", true}, {"JOB", true},  {"STATE"},
                     {"STEP", true},  {"LOSS", true}, {"VALIDATION", true}};
  if (!response.rows().empty()) {
    for (const v1::ArraySetting& setting : response.rows(0).settings()) {
      listing.columns.push_back({setting.key(), false, false, true});
    }
  }
  listing.columns.push_back({"REASON", false, false, true, kReasonWidth});
  for (const v1::ArrayRow& element : response.rows()) listing.rows.push_back(RowOf(element));
  return listing;
}

std::string ArraySummary(const v1::GetArrayResponse& response) {
  const v1::ArrayCounts& counts = response.counts();
  const int64_t ended = counts.succeeded() + counts.failed() + counts.stopped();
  return absl::StrCat("array ", response.job_id(), " ", response.name(), ": ", counts.elements(),
                      counts.elements() == 1 ? " element, " : " elements, ",
                      counts.created() - ended, " are jobs now, ", ended, " have ended (",
                      counts.failed(), " failed), ", counts.elements() - counts.created(),
                      " have not started");
}

}  // namespace trainyard::cli
