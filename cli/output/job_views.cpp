#include "cli/output/job_views.h"

#include <algorithm>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/output/readable.h"
#include "cli/output/stable_json.h"
#include "proto/json/message_json.h"
#include "proto/support/job_state.h"

namespace trainyard::cli {
namespace {

constexpr char kNothing[] = "-";

std::string StepText(const v1::Progress& progress) {
  if (progress.step() == 0) return kNothing;
  return progress.total_steps() > 0 ? absl::StrCat(progress.step(), "/", progress.total_steps())
                                    : absl::StrCat(progress.step());
}

std::string EtaText(const v1::Job& job) {
  if (job.state() != v1::JOB_STATE_RUNNING || job.progress().eta_seconds() <= 0) return kNothing;
  return DurationText(static_cast<int64_t>(job.progress().eta_seconds() * 1000));
}

// Why it waits, or how it ended: what a person asks next.
std::string ReasonText(const v1::Job& job, const v1::PendingReason* pending) {
  if (pending != nullptr && !pending->message().empty()) return pending->message();
  const v1::Attempt* attempt = NewestAttempt(job);
  const bool says = job.state() == v1::JOB_STATE_FAILED || job.state() == v1::JOB_STATE_RECOVERING;
  return says && attempt != nullptr ? attempt->verdict().summary() : "";
}

const char* CheckpointState(const v1::Checkpoint& checkpoint) {
  if (checkpoint.deleted()) return "deleted";
  return checkpoint.damaged() ? "damaged" : "published";
}

std::vector<std::string> JobCells(const v1::Job& job, const v1::PendingReason* pending,
                                  Timestamp now) {
  const v1::Progress& progress = job.progress();
  const bool reported = progress.step() > 0;
  const v1::Attempt* attempt = NewestAttempt(job);
  return {
      absl::StrCat(job.id()),
      job.name(),
      job.user(),
      EnumText(job.state()),
      StepText(progress),
      reported ? LossText(progress.loss()) : kNothing,
      reported ? CompactNumber(progress.tokens_per_second()) : kNothing,
      EtaText(job),
      absl::StrCat(job.spec().resources().nodes(), "x", job.spec().resources().slots_per_node()),
      attempt == nullptr ? kNothing : absl::StrCat(attempt->epoch()),
      AgeText(job.submitted_time_ms(), now),
      IsoTime(job.submitted_time_ms()),
      ReasonText(job, pending)};
}

// JobCells for programs: numbers in full, seconds, and nothing where nothing is known.
std::vector<std::string> ExactJobCells(const v1::Job& job, std::vector<std::string> cells,
                                       Timestamp now) {
  for (std::string& cell : cells) {
    if (cell == kNothing) cell.clear();
  }
  const v1::Progress& progress = job.progress();
  if (progress.step() > 0) {
    cells[4] = absl::StrCat(progress.step());
    cells[5] = DumpJson(progress.loss(), -1);
    cells[6] = DumpJson(progress.tokens_per_second(), -1);
  }
  if (!cells[7].empty()) cells[7] = DumpJson(progress.eta_seconds(), -1);
  cells[10] = absl::StrCat((now - job.submitted_time_ms()) / 1000);
  return cells;
}

// "0-3,5" from sorted numbers.
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

std::string SlotsText(const v1::Node& node) {
  const auto used = std::count_if(node.slot_uses().begin(), node.slot_uses().end(),
                                  [](const v1::SlotUse& use) { return use.job_id() != 0; });
  return absl::StrCat(used, "/", node.inventory().slots_size());
}

// "2 x cpu", or "4 x NVIDIA H200, 4 x NVIDIA H100".
std::string DevicesText(const v1::Node& node) {
  std::map<std::string, int> counts;
  for (const v1::Slot& slot : node.inventory().slots()) ++counts[slot.model()];
  std::vector<std::string> parts;
  for (const auto& [model, count] : counts) parts.push_back(absl::StrCat(count, " x ", model));
  return parts.empty() ? kNothing : absl::StrJoin(parts, ", ");
}

std::string JobsOnNode(const v1::Node& node) {
  std::set<int64_t> jobs;
  for (const v1::SlotUse& use : node.slot_uses()) {
    if (use.job_id() != 0) jobs.insert(use.job_id());
  }
  return jobs.empty() ? kNothing : absl::StrJoin(jobs, ",");
}

// A list or a map on one line, as it could stand in a job file.
std::string ValueText(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : DumpJson(value, -1);
}

std::string OriginOf(const std::string& key, const Origins& origins) {
  const auto found = origins.find(key);
  return found == origins.end() ? kDefaultOrigin : found->second;
}

void AddSpecRow(const std::string& key, const nlohmann::json& value, const Origins& origins,
                Listing& listing) {
  const std::string origin = OriginOf(key, origins);
  listing.rows.push_back(
      {{key, ValueText(value), origin}, key, {{"key", key}, {"value", value}, {"origin", origin}}});
}

}  // namespace

const v1::Attempt* NewestAttempt(const v1::Job& job) {
  return job.attempts().empty() ? nullptr : &job.attempts(job.attempts_size() - 1);
}

nlohmann::json JobDocument(const v1::Job& job, const v1::PendingReason* pending) {
  nlohmann::json document = StableJson(job);
  document["pending"] = pending == nullptr ? nlohmann::json() : StableJson(*pending);
  return document;
}

Listing JobListing(const v1::ListJobsResponse& response, Timestamp now) {
  Listing listing;
  listing.columns = {{"ID", true},
                     {"NAME", false, false, true},
                     {"USER", false, true},
                     {"STATE"},
                     {"STEP", true},
                     {"LOSS", true},
                     {"TOK/S", true},
                     {"ETA", true},
                     {"SLOTS", true, true},
                     {"ATTEMPT", true, true},
                     {"AGE", true},
                     {"SUBMITTED", false, true},
                     {"REASON", false, false, true}};
  for (const v1::Job& job : response.jobs()) {
    const auto found = response.pending().find(job.id());
    const v1::PendingReason* pending = found == response.pending().end() ? nullptr : &found->second;
    std::vector<std::string> cells = JobCells(job, pending, now);
    std::vector<std::string> exact = ExactJobCells(job, cells, now);
    listing.rows.push_back(
        {std::move(cells), absl::StrCat(job.id()), JobDocument(job, pending), std::move(exact)});
  }
  return listing;
}

std::string RanksText(const google::protobuf::RepeatedPtrField<v1::RankPlacement>& ranks,
                      const NodeNames& names) {
  std::vector<std::string> order;
  std::map<std::string, std::set<int>> of_node;
  for (const v1::RankPlacement& rank : ranks) {
    const auto name = names.find(rank.node_id());
    const std::string node = name == names.end() ? rank.node_id() : name->second;
    if (of_node[node].empty()) order.push_back(node);
    of_node[node].insert(rank.rank());
  }
  std::string text;
  for (const std::string& node : order) {
    absl::StrAppend(&text, "  ", node, ": rank", of_node[node].size() == 1 ? " " : "s ",
                    RangesText(of_node[node]), "\n");
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

Listing NodeListing(const v1::ListNodesResponse& response, Timestamp now) {
  Listing listing;
  listing.columns = {{"NODE", false, false, true},
                     {"STATE"},
                     {"SLOTS", true},
                     {"DEVICES", false, false, true},
                     {"JOBS"},
                     {"ADDRESS", false, true},
                     {"CORES", true, true},
                     {"MEMORY", true, true},
                     {"VERSION", false, true},
                     {"ID", false, true},
                     {"HEARD", true}};
  for (const v1::Node& node : response.nodes()) {
    Row row;
    row.cells = {node.name(),
                 absl::StrCat(EnumText(node.state()), node.cordoned() ? ", cordoned" : ""),
                 SlotsText(node),
                 DevicesText(node),
                 JobsOnNode(node),
                 node.address(),
                 absl::StrCat(node.inventory().cpu_cores()),
                 BytesText(node.inventory().memory_bytes()),
                 node.worker_version(),
                 node.id(),
                 AgoText(node.last_heard_ms(), now)};
    row.exact_cells = row.cells;
    row.exact_cells[7] = absl::StrCat(node.inventory().memory_bytes());
    row.exact_cells[10] = IsoTime(node.last_heard_ms());
    row.name = node.name();
    row.document = StableJson(node);
    listing.rows.push_back(std::move(row));
  }
  return listing;
}

Listing CheckpointListing(const v1::Job& job, bool deleted_too, Timestamp now) {
  Listing listing;
  listing.columns = {{"STEP", true}, {"ATTEMPT", true}, {"SIZE", true},
                     {"AGE", true},  {"STATE"},         {"PATH", false, false, true}};
  for (const v1::Checkpoint& checkpoint : job.checkpoints()) {
    if (checkpoint.deleted() && !deleted_too) continue;
    Row row;
    row.cells = {absl::StrCat(checkpoint.step()), absl::StrCat(checkpoint.epoch()),
                 BytesText(checkpoint.bytes()),   AgeText(checkpoint.time_ms(), now),
                 CheckpointState(checkpoint),     checkpoint.path()};
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
