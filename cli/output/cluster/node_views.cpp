#include "cli/output/cluster/node_views.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/output/files/stable_json.h"
#include "cli/output/terminal/readable.h"
#include "proto/json/enum_text.h"
#include "proto/text/duration_text.h"

namespace trainyard::cli {
namespace {

std::string SlotsText(const v1::Node& node) {
  const auto used = std::count_if(node.slot_uses().begin(), node.slot_uses().end(),
                                  [](const v1::SlotUse& use) { return use.job_id() != 0; });
  return absl::StrCat(used, "/", node.inventory().slots_size());
}

// Returns a text such as "2 x cpu" or "4 x NVIDIA H200, 4 x NVIDIA H100".
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

// Returns the state of a cordoned node in one word.
const char* CordonWord(const v1::Node& node) {
  if (!node.has_drain()) return "cordoned";
  return node.drain().drained_ms() == 0 ? "draining" : "drained";
}

std::string NodeStateText(const v1::Node& node) {
  const char* health = node.health().has_quarantine() ? ", quarantined" : ", unhealthy";
  return absl::StrCat(EnumText(node.state()),
                      node.cordoned() ? absl::StrCat(", ", CordonWord(node)) : "",
                      node.has_health() ? health : "");
}

std::string NodeHealthText(const v1::NodeHealth& health, Timestamp now) {
  if (health.has_quarantine()) return absl::StrCat("quarantined: ", health.quarantine().reason());
  std::string text = absl::StrCat("unhealthy: ", health.reason());
  if (!health.reported().empty() && health.reported() != health.reason()) {
    absl::StrAppend(&text, "; ", health.reported());
  }
  const int64_t wait_ms = health.retry_not_before_ms() - now;
  if (wait_ms > 0) absl::StrAppend(&text, "; retry in ", ShortDuration(wait_ms));
  return text;
}

// Returns text such as "draining (jobs leave within 25m00s): bad fan (user ada)".
std::string CordonText(const v1::Node& node, Timestamp now) {
  const v1::NodeDrain& drain = node.drain();
  const bool waits = node.has_drain() && drain.drained_ms() == 0 && drain.deadline_ms() > now;
  return absl::StrCat(
      CordonWord(node),
      waits ? absl::StrCat(" (jobs leave within ", ShortDuration(drain.deadline_ms() - now), ")")
            : "",
      ": ", node.cordon_reason());
}

// Returns the reasons why no new ranks are placed on the node.
std::string NodeReasonText(const v1::Node& node, Timestamp now) {
  std::vector<std::string> reasons;
  if (!node.state_reason().empty()) reasons.push_back(node.state_reason());
  if (node.cordoned()) reasons.push_back(CordonText(node, now));
  if (node.has_health()) reasons.push_back(NodeHealthText(node.health(), now));
  return absl::StrJoin(reasons, "; ");
}

// Returns a text such as "pool=a, rack=r7".
std::string LabelsText(const v1::Node& node) {
  const std::map<std::string, std::string> labels(node.labels().begin(), node.labels().end());
  return labels.empty() ? kNothing : OneLine(absl::StrJoin(labels, ", ", absl::PairFormatter("=")));
}

std::string MemoryText(int64_t bytes) { return bytes == 0 ? kNothing : BytesText(bytes); }

// Returns " (16 requested by ranks)", or "" if ranks request nothing. `text`: the requested amount.
std::string RequestedText(int64_t requested, const std::string& text) {
  return requested == 0 ? "" : absl::StrCat(" (", text, " requested by ranks)");
}

// Returns the node's CPU cores and memory, and how much of them ranks request.
std::string HostLines(const v1::Node& node) {
  int64_t cpus = 0, memory = 0;
  for (const v1::SlotUse& use : node.slot_uses()) {
    cpus += use.requested_cpus();
    memory += use.requested_memory_bytes();
  }
  const v1::Inventory& inventory = node.inventory();
  return LabelLine("Cores", absl::StrCat(CountText(inventory.cpu_cores()),
                                         RequestedText(cpus, absl::StrCat(cpus)))) +
         LabelLine("Memory", absl::StrCat(MemoryText(inventory.memory_bytes()),
                                          RequestedText(memory, BytesText(memory))));
}

std::vector<std::string> NodeCells(const v1::Node& node, Timestamp now) {
  return {node.name(),
          NodeStateText(node),
          SlotsText(node),
          DevicesText(node),
          JobsOnNode(node),
          absl::StrCat(node.score()),
          node.address(),
          CountText(node.inventory().cpu_cores()),
          MemoryText(node.inventory().memory_bytes()),
          TextOrNothing(node.worker_version()),
          node.id(),
          AgoText(node.last_heartbeat_ms(), now),
          NodeReasonText(node, now),
          LabelsText(node),
          node.groups().empty() ? kNothing : absl::StrJoin(node.groups(), "/")};
}

// Returns the cells of a node for scripts: bytes, ISO-8601 times, and empty cells for unknown
// values.
std::vector<std::string> ExactNodeCells(const v1::Node& node, std::vector<std::string> cells) {
  for (std::string& cell : cells) {
    if (cell == kNothing) cell.clear();
  }
  const int64_t memory = node.inventory().memory_bytes();
  cells[8] = memory == 0 ? "" : absl::StrCat(memory);
  cells[11] = IsoTime(node.last_heartbeat_ms());
  return cells;
}

// Returns a text such as "maint from 2026-12-01T08:00:00.000Z to 2026-12-01T10:00:00.000Z: new
// fans".
std::string ReservationText(const v1::NodeReservation& reservation) {
  return OneLine(absl::StrCat(reservation.name(), " from ", IsoTime(reservation.start_ms()), " to ",
                              IsoTime(reservation.end_ms()),
                              reservation.reason().empty() ? "" : ": ", reservation.reason()));
}

// Returns the failures attributed to the node, newest first; "" if there are none.
std::string EvidenceText(const v1::Node& node, Timestamp now) {
  if (node.evidence().empty()) return "";
  std::string text = LabelLine("Score", absl::StrCat(node.score(), " of 100"));
  absl::StrAppend(&text, "\nFailures attributed to this node\n");
  for (auto it = node.evidence().rbegin(); it != node.evidence().rend(); ++it) {
    const bool counts = it->time_ms() > node.released_time_ms();
    absl::StrAppend(&text, "  ", AgoText(it->time_ms(), now), "  ", EnumText(it->fault()),
                    it->fatal() ? ", fatal" : "", counts ? "" : ", released", ": ",
                    OneLine(it->reason()), "\n");
  }
  return text;
}

// Returns a text such as "17 (tiny): rank 0".
std::string UseText(const v1::SlotUse& use, const v1::ListNodesResponse& response) {
  if (use.job_id() == 0) return "free";
  const auto name = response.job_names().find(use.job_id());
  const bool named = name != response.job_names().end();
  return absl::StrCat("job ", use.job_id(), named ? absl::StrCat(" (", name->second, ")") : "",
                      ", rank ", use.rank(),
                      use.unkillable().empty() ? "" : "; cannot be killed: ", use.unkillable());
}

}  // namespace

Listing NodeListing(const v1::ListNodesResponse& response, Timestamp now) {
  Listing listing;
  listing.columns = {{"NODE", false, false, true},
                     {"STATE"},
                     {"SLOTS", true},
                     {"DEVICES", false, false, true},
                     {"JOBS"},
                     {"SCORE", true, true},
                     {"ADDRESS", false, true},
                     {"CORES", true, true},
                     {"MEMORY", true, true},
                     {"VERSION", false, true},
                     {"ID", false, true},
                     {"HEARTBEAT", true},
                     {"REASON", false, false, true, kReasonWidth},
                     {"LABELS", false, true},
                     {"GROUPS", false, true}};
  for (const v1::Node& node : response.nodes()) {
    Row row;
    row.cells = NodeCells(node, now);
    row.exact_cells = ExactNodeCells(node, row.cells);
    row.name = node.name();
    row.document = StableJson(node);
    listing.rows.push_back(std::move(row));
  }
  return listing;
}

std::string NodeText(const v1::Node& node, const v1::ListNodesResponse& response, Timestamp now) {
  std::string text = absl::StrCat("Node ", node.name(), "\n");
  text += LabelLine("Id", node.id());
  text += LabelLine("State", NodeStateText(node));
  if (const std::string reason = NodeReasonText(node, now); !reason.empty()) {
    text += LabelLine("Reason", reason);
  }
  if (node.health().has_quarantine()) {
    text += LabelLine("Try", absl::StrCat("`trainyard node release ", node.name(), "`"));
  }
  if (node.cordoned()) text += LabelLine("Try", absl::StrCat("`", UncordonCommand(node), "`"));
  for (const v1::NodeReservation& reservation : node.reservations()) {
    text += LabelLine("Reserved", ReservationText(reservation));
  }
  text += LabelLine("Address", TextOrNothing(node.address()));
  text += LabelLine("Version", TextOrNothing(node.worker_version()));
  text += LabelLine("Labels", LabelsText(node));
  text += LabelLine("Groups", node.groups().empty() ? kNothing : absl::StrJoin(node.groups(), "/"));
  text += HostLines(node);
  if (node.disk_bytes() > 0) {
    text += LabelLine("Disk", absl::StrCat(BytesText(node.disk_free_bytes()), " free of ",
                                           BytesText(node.disk_bytes())));
  }
  text +=
      LabelLine("Joined", node.joined_time_ms() == 0 ? kNothing : IsoTime(node.joined_time_ms()));
  text += LabelLine("Heartbeat", AgoText(node.last_heartbeat_ms(), now));
  text += EvidenceText(node, now);
  absl::StrAppend(&text, "\nSlots\n");
  const int slots = std::min(node.inventory().slots_size(), node.slot_uses_size());
  for (int i = 0; i < slots; ++i) {
    absl::StrAppend(&text, "  ", node.inventory().slots(i).index(), "  ",
                    OneLine(node.inventory().slots(i).model()), "  ",
                    OneLine(UseText(node.slot_uses(i), response)), "\n");
  }
  return text;
}

std::string UncordonCommand(const v1::Node& node) {
  return absl::StrCat("trainyard node uncordon ", node.name());
}

}  // namespace trainyard::cli
