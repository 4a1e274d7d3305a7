#include "cli/output/jobs/report_view.h"

#include <array>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/output/cluster/usage_text.h"
#include "cli/output/files/stable_json.h"
#include "cli/output/terminal/readable.h"
#include "proto/text/duration_text.h"

namespace trainyard::cli {
namespace {

struct PhaseColumn {
  v1::LedgerPhase phase;
  const char* title;
  // Shown only by -o wide and -o csv.
  bool wide;
};

// The phases in which a job uses slots.
constexpr std::array kPhases = {
    PhaseColumn{v1::LEDGER_PHASE_TRAIN, "TRAIN", false},
    PhaseColumn{v1::LEDGER_PHASE_REDONE, "REDONE", false},
    PhaseColumn{v1::LEDGER_PHASE_RESTART, "RESTART", false},
    PhaseColumn{v1::LEDGER_PHASE_STALLED, "STALLED", false},
    PhaseColumn{v1::LEDGER_PHASE_DIVERGING, "DIVERGING", true},
    PhaseColumn{v1::LEDGER_PHASE_SLOW, "SLOW", true},
    PhaseColumn{v1::LEDGER_PHASE_UNSAVED, "UNSAVED", true},
    PhaseColumn{v1::LEDGER_PHASE_HEAL, "HEAL", true},
    PhaseColumn{v1::LEDGER_PHASE_STANDBY, "STANDBY", true},
    PhaseColumn{v1::LEDGER_PHASE_INIT, "INIT", false},
    PhaseColumn{v1::LEDGER_PHASE_LOAD, "LOAD", true},
    PhaseColumn{v1::LEDGER_PHASE_CHECKPOINT, "CHECKPOINT", true},
    PhaseColumn{v1::LEDGER_PHASE_EVALUATION, "EVAL", true},
    PhaseColumn{v1::LEDGER_PHASE_DATA_STALL, "DATA", true},
    PhaseColumn{v1::LEDGER_PHASE_STOP, "STOP", true},
    PhaseColumn{v1::LEDGER_PHASE_UNSPECIFIED, "UNKNOWN", true},
};

double SlotSecondsIn(const v1::ReportGroup& group, v1::LedgerPhase phase) {
  for (const v1::PhaseTime& time : group.phases()) {
    if (time.phase() == phase) return time.slot_seconds();
  }
  return 0;
}

double QueuedSeconds(const v1::ReportGroup& group) {
  for (const v1::PhaseTime& time : group.phases()) {
    if (time.phase() == v1::LEDGER_PHASE_QUEUED) return time.seconds();
  }
  return 0;
}

std::string TimeText(double seconds) {
  return seconds <= 0 ? kNothing : ShortDuration(static_cast<int64_t>(seconds * 1000));
}

std::string PartText(double part, double whole) {
  if (whole <= 0 || part <= 0) return kNothing;
  return absl::StrFormat("%.1f %%", 100 * part / whole);
}

std::string ExactText(double number) { return absl::StrFormat("%.3f", number); }

// Adds a cell for tables, and the cell for -o csv.
void AddCell(std::string text, std::string exact, Row& row) {
  row.cells.push_back(std::move(text));
  row.exact_cells.push_back(std::move(exact));
}

void AddRatio(double ratio, double slots, Row& row) {
  AddCell(PartText(ratio, slots > 0 ? 1 : 0), absl::StrFormat("%.6f", ratio), row);
}

Row RowOf(const v1::ReportGroup& group) {
  const std::string name =
      group.job_id() == 0 ? group.name() : absl::StrCat(group.job_id(), " ", group.name());
  const double slots = group.slot_seconds();
  const double queued = QueuedSeconds(group);
  Row row;
  row.name = group.job_id() == 0 ? group.name() : absl::StrCat(group.job_id());
  row.document = StableJson(group);
  row.cells = {name, absl::StrCat(group.jobs()), absl::StrCat(group.restarts())};
  row.exact_cells = row.cells;
  AddCell(TimeText(queued), ExactText(queued), row);
  AddCell(TimeText(slots), ExactText(slots), row);
  AddCell(GpuHoursText(group.gpu_seconds()), ExactText(group.gpu_seconds() / 3600), row);
  if (group.has_cost()) {
    AddCell(absl::StrFormat("%.2f", group.cost().amount()), ExactText(group.cost().amount()), row);
  }
  AddRatio(group.goodput_ratio(), slots, row);
  AddRatio(group.effective_ratio(), slots, row);
  for (const PhaseColumn& column : kPhases) {
    const double seconds = SlotSecondsIn(group, column.phase);
    AddCell(PartText(seconds, slots), ExactText(seconds), row);
  }
  AddCell(TimeText(group.idle_slot_seconds()), ExactText(group.idle_slot_seconds()), row);
  return row;
}

// Returns the title of the column with amounts of money.
std::string CostTitle(const v1::Cost& cost) {
  return cost.currency().empty() ? "COST" : absl::StrCat("COST ", cost.currency());
}

}  // namespace

Listing ReportListing(const v1::GetReportResponse& response) {
  Listing listing;
  listing.columns = {
      {"GROUP", false, false, true}, {"JOBS", true},     {"RESTARTS", true}, {"QUEUED", true},
      {"SLOT TIME", true},           {"GPU HOURS", true}};
  if (response.total().has_cost()) {
    listing.columns.push_back({CostTitle(response.total().cost()), true});
  }
  listing.columns.push_back({"GOODPUT", true});
  listing.columns.push_back({"EFFECTIVE", true});
  for (const PhaseColumn& column : kPhases) {
    listing.columns.push_back({column.title, true, column.wide});
  }
  listing.columns.push_back({"IDLE", true});
  for (const v1::ReportGroup& group : response.groups()) listing.rows.push_back(RowOf(group));
  if (response.has_rest()) listing.rows.push_back(RowOf(response.rest()));
  const bool has_many = response.groups_size() > 1 || response.has_rest();
  if (has_many) listing.rows.push_back(RowOf(response.total()));
  return listing;
}

}  // namespace trainyard::cli
