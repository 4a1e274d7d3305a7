#include "cli/output/plans/estimate_view.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "cli/output/terminal/readable.h"

namespace trainyard::cli {
namespace {

std::string WaitText(Timestamp time, Timestamp now) { return AgeText(now, std::max(time, now)); }

// Only time limits are known, so the start may be much earlier.
bool HasOnlyLatest(const v1::PendingReason& reason, Timestamp now) {
  return reason.estimated_earliest_ms() <= now && reason.estimated_start_ms() > now;
}

}  // namespace

std::string EstimateLine(const v1::PendingReason& reason, Timestamp now) {
  if (reason.estimated_start_ms() == 0) return "";
  if (reason.estimated_start_ms() <= now) return "starts soon";
  if (HasOnlyLatest(reason, now)) {
    return absl::StrCat("starts within ", WaitText(reason.estimated_latest_ms(), now),
                        ", if jobs run until their time limits");
  }
  return absl::StrCat("starts in about ", WaitText(reason.estimated_start_ms(), now), " (",
                      WaitText(reason.estimated_earliest_ms(), now), " to ",
                      WaitText(reason.estimated_latest_ms(), now), ")");
}

std::string EstimateCell(const v1::PendingReason& reason, Timestamp now) {
  if (reason.estimated_start_ms() == 0) return "-";
  return HasOnlyLatest(reason, now) ? absl::StrCat("<", WaitText(reason.estimated_latest_ms(), now))
                                    : absl::StrCat("~", WaitText(reason.estimated_start_ms(), now));
}

}  // namespace trainyard::cli
