#include "cli/output/jobs/job_views.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "cli/output/datasets/data_progress_view.h"
#include "cli/output/files/stable_json.h"
#include "cli/output/jobs/health_view.h"
#include "cli/output/terminal/freshness.h"
#include "cli/output/terminal/readable.h"
#include "proto/jobspec/fields/node_range.h"
#include "proto/json/enum_text.h"
#include "proto/json/message_json.h"
#include "proto/text/duration_text.h"

namespace trainyard::cli {
namespace {

// Index of the state among the cells of a job.
constexpr int kStateCell = 3;

// This function and the function for the rate require a job from WithoutOldRate.
std::string EtaText(const v1::Job& job) {
  if (job.progress().eta_seconds() <= 0) return kNothing;
  return ShortDuration(static_cast<int64_t>(job.progress().eta_seconds() * 1000));
}

// Returns the reason why the job is pending, or the summary of its failure. A stop that lost steps
// counts as a failure.
std::string ReasonText(const v1::Job& job, const v1::PendingReason* pending) {
  if (pending != nullptr && !pending->message().empty()) return pending->message();
  if (job.verdict().lost_steps() > 0) return job.verdict().summary();
  const bool says = job.state() == v1::JOB_STATE_FAILED || job.state() == v1::JOB_STATE_RECOVERING;
  if (!says) return "";
  // A job whose prerequisite failed has no attempt.
  const v1::Attempt* attempt = NewestAttempt(job);
  return attempt == nullptr ? job.verdict().summary() : attempt->verdict().summary();
}

bool IsUsable(const v1::Checkpoint& checkpoint) {
  return !checkpoint.deleted() && !checkpoint.damaged() && !checkpoint.rolled_back();
}

// Returns the usable checkpoint with the lowest value of the newest checkpoint's metric. If several
// checkpoints have this value, returns the first. Returns nullptr if no checkpoint was evaluated.
const v1::Checkpoint* BestCheckpoint(const v1::Job& job) {
  std::string metric;
  for (const v1::Checkpoint& checkpoint : job.checkpoints()) {
    if (!checkpoint.metric().empty()) metric = checkpoint.metric();
  }
  const v1::Checkpoint* best = nullptr;
  for (const v1::Checkpoint& checkpoint : job.checkpoints()) {
    if (metric.empty() || checkpoint.metric() != metric || !IsUsable(checkpoint)) continue;
    if (best == nullptr || checkpoint.metric_value() < best->metric_value()) best = &checkpoint;
  }
  return best;
}

const char* CheckpointState(const v1::Checkpoint& checkpoint) {
  if (checkpoint.deleted()) return "deleted";
  if (checkpoint.rolled_back()) return "rolled back";
  return checkpoint.damaged() ? "damaged" : "published";
}

std::string CheckpointMetric(const v1::Checkpoint& checkpoint, bool is_best) {
  if (checkpoint.metric().empty()) return kNothing;
  return absl::StrCat(checkpoint.metric(), " ", LossText(checkpoint.metric_value()),
                      is_best ? " (best)" : "");
}

std::vector<std::string> JobCells(const v1::Job& job, const v1::PendingReason* pending,
                                  Timestamp now) {
  const v1::Progress& progress = job.progress();
  const v1::Attempt* attempt = NewestAttempt(job);
  return {absl::StrCat(job.id()),
          job.name(),
          job.user(),
          EnumText(job.state()),
          HealthText(job.health()),
          ProgressStepText(progress),
          progress.loss() != 0 ? LossText(progress) : kNothing,
          ProgressRateText(progress),
          EtaText(job),
          absl::StrCat(GangNodesText(job), "x", job.spec().resources().slots_per_node()),
          attempt == nullptr ? kNothing : absl::StrCat(attempt->number()),
          AgeText(job.submitted_time_ms(), now),
          IsoTime(job.submitted_time_ms()),
          ReasonText(job, pending)};
}

// Returns the cells of a job for scripts: full numbers, times in seconds, and empty cells for
// unknown values.
std::vector<std::string> ExactJobCells(const v1::Job& job, std::vector<std::string> cells,
                                       Timestamp now) {
  for (std::string& cell : cells) {
    if (cell == kNothing) cell.clear();
  }
  const v1::Progress& progress = job.progress();
  if (progress.step() > 0) cells[5] = absl::StrCat(progress.step());
  if (!cells[6].empty()) cells[6] = DumpJson(progress.loss(), -1);
  // The column is for tokens, so the rate of a data job is only in JSON.
  cells[7] = progress.tokens_per_second() > 0 ? DumpJson(progress.tokens_per_second(), -1) : "";
  if (!cells[8].empty()) cells[8] = DumpJson(progress.eta_seconds(), -1);
  cells[11] = absl::StrCat((now - job.submitted_time_ms()) / 1000);
  return cells;
}

// Formats sorted numbers as "0-3,5".
std::string RangesText(const std::set<int>& numbers) {
  std::vector<std::string> parts;
  for (auto first = numbers.begin(); first != numbers.end();) {
    int last = *first;
    auto next = std::next(first);
    while (next != numbers.end() && *next == last + 1) last = *next++;
    parts.push_back(last == *first ? absl::StrCat(last) : absl::StrCat(*first, "-", last));
    first = next;
  }
  return absl::StrJoin(parts, ",");
}

// Returns a list or a map on one line, in the syntax of job files.
std::string ValueText(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : DumpJson(value, -1);
}

std::string OriginOf(const std::string& key, const Origins& origins) {
  const auto found = origins.find(key);
  return found == origins.end() ? kDefaultOrigin : found->second;
}

// Returns the JobDocument with an additional key "pending", which is an object or null.
nlohmann::json ListedDocument(const v1::Job& job, const v1::PendingReason* pending, Timestamp now) {
  nlohmann::json document = JobDocument(job, now);
  document["pending"] = pending == nullptr ? nlohmann::json() : StableJson(*pending);
  return document;
}

void AddSpecRow(const std::string& key, const nlohmann::json& value, const Origins& origins,
                Listing& listing) {
  const std::string origin = OriginOf(key, origins);
  const std::string text = ValueText(value);
  listing.rows.push_back({{key, text, ShortOrigin(origin)},
                          key,
                          {{"key", key}, {"value", value}, {"origin", origin}},
                          {key, text, origin}});
}

}  // namespace

std::string ShortOrigin(const std::string& origin) {
  int line = 0, column = 0;
  const std::vector<std::string> parts = absl::StrSplit(origin, ':');
  const bool has_place =
      parts.size() == 3 && absl::SimpleAtoi(parts[1], &line) && absl::SimpleAtoi(parts[2], &column);
  if (!has_place) return origin;
  const std::filesystem::path file = parts[0];
  const bool recipe = file.parent_path().filename() == "recipes";
  return absl::StrCat((recipe ? file.stem() : file.filename()).string(), ":", line);
}

const v1::Attempt* NewestAttempt(const v1::Job& job) {
  return job.attempts().empty() ? nullptr : &job.attempts(job.attempts_size() - 1);
}

nlohmann::json JobDocument(const v1::Job& job, Timestamp now) {
  return StableJson(WithoutOldRate(job, now));
}

Listing JobListing(const v1::ListJobsResponse& response, Timestamp now) {
  Listing listing;
  listing.columns = {{"ID", true},
                     {"NAME", false, false, true},
                     {"USER", false, true},
                     {"STATE"},
                     {"HEALTH"},
                     {"STEP", true},
                     {"LOSS", true},
                     {"TOK/S", true, false, false, 0, 3},
                     {"ETA", true, false, false, 0, 2},
                     {"SLOTS", true, true},
                     {"ATTEMPT", true, true},
                     {"AGE", true, false, false, 0, 1},
                     {"SUBMITTED", false, true},
                     {"REASON", false, false, true, kReasonWidth}};
  for (const v1::Job& listed : response.jobs()) {
    const v1::Job job = WithoutOldRate(listed, now);
    const auto found = response.pending().find(job.id());
    const v1::PendingReason* pending = found == response.pending().end() ? nullptr : &found->second;
    std::vector<std::string> cells = JobCells(job, pending, now);
    std::vector<std::string> exact = ExactJobCells(job, cells, now);
    const bool has_failed = job.state() == v1::JOB_STATE_FAILED || job.verdict().lost_steps() > 0;
    listing.rows.push_back({std::move(cells), absl::StrCat(job.id()),
                            ListedDocument(job, pending, now), std::move(exact),
                            has_failed ? kStateCell : -1});
  }
  return listing;
}

namespace {

// Returns a node's role in a gang with spares. One rank determines the role, because a heal moves
// all ranks of a node together.
std::string RoleText(const v1::RankPlacement& rank, const std::set<int>& places) {
  if (rank.replaced()) return " (replaced by a spare node)";
  if (!places.empty()) {
    return absl::StrCat(" (replaces rank", places.size() == 1 ? " " : "s ", RangesText(places),
                        ")");
  }
  return rank.standby() ? " (spare)" : "";
}

}  // namespace

std::string RanksText(const google::protobuf::RepeatedPtrField<v1::RankPlacement>& ranks,
                      const NodeNames& names) {
  std::vector<std::string> order;
  std::map<std::string, std::set<int>> of_node, places;
  std::map<std::string, const v1::RankPlacement*> first;
  for (const v1::RankPlacement& rank : ranks) {
    const auto name = names.find(rank.node_id());
    const std::string node = name == names.end() ? rank.node_id() : name->second;
    if (first.try_emplace(node, &rank).second) order.push_back(node);
    of_node[node].insert(rank.rank());
    if (rank.has_place()) places[node].insert(rank.place());
  }
  std::string text;
  for (const std::string& node : order) {
    absl::StrAppend(&text, "  ", node, ": rank", of_node[node].size() == 1 ? " " : "s ",
                    RangesText(of_node[node]), RoleText(*first[node], places[node]), "\n");
  }
  return text;
}

Listing SpecListing(const v1::JobSpec& spec, const Origins& origins) {
  Listing listing;
  listing.columns = {{"KEY"}, {"VALUE", false, false, true}, {"FROM"}};
  const nlohmann::json document = MessageToJson(spec);
  const google::protobuf::Descriptor& type = *v1::JobSpec::descriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const google::protobuf::FieldDescriptor& field = *type.field(i);
    const auto value = document.find(field.name());
    if (value == document.end()) continue;
    const bool section =
        field.message_type() != nullptr && !field.is_repeated() && value->is_object();
    if (!section) {
      AddSpecRow(field.name(), *value, origins, listing);
      continue;
    }
    for (int j = 0; j < field.message_type()->field_count(); ++j) {
      const std::string& name = field.message_type()->field(j)->name();
      if (!value->contains(name)) continue;
      AddSpecRow(absl::StrCat(field.name(), ".", name), (*value)[name], origins, listing);
    }
  }
  return listing;
}

namespace {

// Returns the checkpoints sorted by step. `deleted_too`: include deleted checkpoints, whose files
// no longer exist.
std::vector<const v1::Checkpoint*> CheckpointsOf(const v1::Job& job, bool deleted_too) {
  std::vector<const v1::Checkpoint*> listed;
  for (const v1::Checkpoint& checkpoint : job.checkpoints()) {
    if (!checkpoint.deleted() || deleted_too) listed.push_back(&checkpoint);
  }
  if (!deleted_too) return listed;
  for (const v1::Checkpoint& checkpoint : job.deleted_checkpoints()) listed.push_back(&checkpoint);
  std::stable_sort(listed.begin(), listed.end(),
                   [](const auto* a, const auto* b) { return a->step() < b->step(); });
  return listed;
}

}  // namespace

Listing CheckpointListing(const v1::Job& job, bool deleted_too, Timestamp now) {
  Listing listing;
  listing.columns = {
      {"STEP", true}, {"ATTEMPT", true},           {"SIZE", true}, {"AGE", true}, {"STATE"},
      {"METRIC"},     {"PATH", false, false, true}};
  const v1::Checkpoint* best = BestCheckpoint(job);
  for (const v1::Checkpoint* listed : CheckpointsOf(job, deleted_too)) {
    const v1::Checkpoint& checkpoint = *listed;
    Row row;
    row.cells = {absl::StrCat(checkpoint.step()),
                 absl::StrCat(checkpoint.attempt()),
                 BytesText(checkpoint.bytes()),
                 AgeText(checkpoint.time_ms(), now),
                 CheckpointState(checkpoint),
                 CheckpointMetric(checkpoint, &checkpoint == best),
                 checkpoint.path()};
    row.exact_cells = row.cells;
    row.exact_cells[2] = absl::StrCat(checkpoint.bytes());
    row.exact_cells[3] = absl::StrCat((now - checkpoint.time_ms()) / 1000);
    row.name = checkpoint.path();
    row.document = StableJson(checkpoint);
    listing.rows.push_back(std::move(row));
  }
  return listing;
}

}  // namespace trainyard::cli
