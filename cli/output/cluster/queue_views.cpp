#include "cli/output/cluster/queue_views.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/output/files/stable_json.h"
#include "cli/output/plans/estimate_view.h"
#include "cli/output/terminal/readable.h"
#include "proto/json/enum_text.h"

namespace trainyard::cli {
namespace {

std::string Requested(const v1::QueuedJob& job) {
  const std::string from = job.min_nodes() > 0 ? absl::StrCat(job.min_nodes(), "..") : "";
  return absl::StrCat(from, job.nodes(), "x", job.slots_per_node(), " ", EnumText(job.device()));
}

// The name, and the number of elements that wait behind an element of an array.
std::string NameText(const v1::QueuedJob& job) {
  if (job.elements_to_come() == 0) return job.name();
  return absl::StrCat(job.name(), " (+", job.elements_to_come(), ")");
}

std::string Percent(double part) { return absl::StrFormat("%.0f%%", 100 * part); }

std::string LimitText(int limit) { return limit == 0 ? "-" : absl::StrCat(limit); }

v1::SlotQuota QuotaOf(const v1::Queue& queue, v1::DeviceKind device) {
  for (const v1::SlotQuota& quota : queue.quotas()) {
    if (quota.device() == device) return quota;
  }
  return {};
}

// The users who hold slots, such as "ada 32, bob 8".
std::string HoldersText(const v1::QueueSlots& slots) {
  std::vector<std::string> holders;
  for (const v1::QueueUser& user : slots.users()) {
    if (user.held_slots() == 0) continue;
    holders.push_back(absl::StrCat(OneLine(user.user()), " ", user.held_slots()));
  }
  return holders.empty() ? "-" : absl::StrJoin(holders, ", ");
}

Row QueueRow(const v1::QueueState& state, const v1::QueueSlots& slots) {
  const v1::Queue& queue = state.queue();
  const v1::SlotQuota quota = QuotaOf(queue, slots.device());
  Row row;
  row.cells = {queue.name(),
               absl::StrCat(queue.tier()),
               absl::StrCat(std::max(1, queue.shares())),
               slots.device() == v1::DEVICE_KIND_UNSPECIFIED ? "-" : EnumText(slots.device()),
               absl::StrCat(slots.held_slots()),
               absl::StrCat(slots.waiting_jobs()),
               Percent(slots.fair_share()),
               Percent(slots.usage_share()),
               LimitText(quota.nominal()),
               LimitText(quota.max_slots()),
               LimitText(quota.max_slots_per_user()),
               HoldersText(slots)};
  row.name = queue.name();
  row.document = StableJson(state);
  return row;
}

}  // namespace

Listing QueuedJobListing(const v1::ListQueuesResponse& response) {
  Listing listing;
  listing.columns = {{"POSITION", true},
                     {"JOB", true},
                     {"NAME", false, false, true},
                     {"USER", false, false, true, 0, 2},
                     {"QUEUE", false, false, true, 0, 3},
                     {"PRIORITY", true, true},
                     {"REQUESTS"},
                     {"WAITS", true, false, false, 0, 1},
                     {"STARTS", true},
                     {"REASON", false, false, true, kReasonWidth}};
  for (const v1::QueuedJob& job : response.jobs()) {
    const int position = job.reason().queue_position();
    Row row;
    row.cells = {position == 0 ? "-" : absl::StrCat(position),
                 absl::StrCat(job.job_id()),
                 NameText(job),
                 TextOrNothing(job.user()),
                 job.queue(),
                 absl::StrCat(job.priority()),
                 Requested(job),
                 AgeText(job.queued_since_ms(), response.as_of_ms()),
                 EstimateCell(job.reason(), response.as_of_ms()),
                 OneLine(job.reason().message())};
    row.exact_cells = row.cells;
    row.exact_cells[2] = job.name();
    row.exact_cells[7] = absl::StrCat((response.as_of_ms() - job.queued_since_ms()) / 1000);
    const int64_t start_ms = job.reason().estimated_start_ms();
    if (start_ms != 0) row.exact_cells[8] = absl::StrCat((start_ms - response.as_of_ms()) / 1000);
    row.name = absl::StrCat(job.job_id());
    row.document = StableJson(job);
    listing.rows.push_back(std::move(row));
  }
  return listing;
}

Listing QueueListing(const v1::ListQueuesResponse& response) {
  Listing listing;
  listing.columns = {
      {"QUEUE"},      {"TIER", true},     {"SHARES", true},
      {"SLOTS"},      {"HELD", true},     {"WAITING", true},
      {"FAIR", true}, {"USED", true},     {"NOMINAL", true},
      {"MAX", true},  {"PER USER", true}, {"HELD BY", false, false, true, kReasonWidth, 1}};
  for (const v1::QueueState& state : response.queues()) {
    for (const v1::QueueSlots& slots : state.slots()) {
      listing.rows.push_back(QueueRow(state, slots));
    }
    if (state.slots().empty()) listing.rows.push_back(QueueRow(state, {}));
  }
  return listing;
}

std::string QueueSettingsText(const v1::Queue& queue) {
  const int shares = std::max(1, queue.shares());
  std::vector<std::string> parts = {
      absl::StrCat(shares, shares == 1 ? " share" : " shares", ", tier ", queue.tier())};
  for (const v1::SlotQuota& quota : queue.quotas()) {
    std::vector<std::string> limits;
    if (quota.nominal() > 0) limits.push_back(absl::StrCat("nominal ", quota.nominal()));
    if (quota.max_slots() > 0) limits.push_back(absl::StrCat("at most ", quota.max_slots()));
    if (quota.max_slots_per_user() > 0) {
      limits.push_back(absl::StrCat(quota.max_slots_per_user(), " per user"));
    }
    if (limits.empty()) continue;
    parts.push_back(absl::StrCat(EnumText(quota.device()), ": ", absl::StrJoin(limits, ", ")));
  }
  return absl::StrJoin(parts, "; ");
}

}  // namespace trainyard::cli
