#include "controller/api/cluster/cluster_handlers.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/api/cluster/database_checks.h"
#include "controller/core/decide/decide.h"
#include "controller/core/decide/lost_history.h"
#include "controller/core/decide/references.h"
#include "controller/core/explain/topology_report.h"
#include "controller/core/health/node_checks.h"
#include "controller/core/health/node_health.h"
#include "controller/core/health/quarantine.h"
#include "controller/core/observations/cluster_clock.h"
#include "controller/core/state/nodes/node_reservations.h"
#include "controller/core/state/nodes/topology.h"
#include "controller/store/files/moved_mark.h"
#include "controller/store/files/store_check.h"
#include "proto/jobspec/topology_file.h"
#include "proto/json/enum_text.h"

namespace trainyard::controller {
namespace {

void CountSlots(const v1::Node& node, std::map<v1::DeviceKind, v1::SlotCount>& counts) {
  for (int i = 0; i < node.inventory().slots_size(); ++i) {
    v1::SlotCount& count = counts[node.inventory().slots(i).kind()];
    count.set_kind(node.inventory().slots(i).kind());
    count.set_total(count.total() + 1);
    const bool used = i < node.slot_uses_size() && node.slot_uses(i).job_id() != 0;
    if (used) count.set_used(count.used() + 1);
    if (!used && TakesRanks(node) && IsHealthy(node)) count.set_free(count.free() + 1);
  }
}

v1::ClusterSummary SummaryOf(const ClusterState& state, const JobArchive& archive) {
  v1::ClusterSummary summary;
  for (const auto& [id, entry] : state.jobs)
    ++(*summary.mutable_jobs())[EnumText(entry.job.state())];
  for (const auto& [job_state, count] : archive.CountByState()) {
    (*summary.mutable_jobs())[EnumText(job_state)] += static_cast<int>(count);
  }
  std::map<v1::DeviceKind, v1::SlotCount> slots;
  for (const auto& [id, entry] : state.nodes) {
    ++(*summary.mutable_nodes())[EnumText(entry.node.state())];
    if (entry.node.cordoned()) summary.set_nodes_cordoned(summary.nodes_cordoned() + 1);
    if (!IsHealthy(entry.node)) summary.set_nodes_unhealthy(summary.nodes_unhealthy() + 1);
    if (entry.node.health().has_quarantine()) {
      summary.set_nodes_quarantined(summary.nodes_quarantined() + 1);
    }
    CountSlots(entry.node, slots);
  }
  for (const auto& [kind, count] : slots) *summary.add_slots() = count;
  return summary;
}

// The minimum free space on the controller's disk. With less free space, the stores may soon be
// unable to grow.
constexpr int64_t kFreeBytesMin = int64_t{1} << 30;

void AddControllerChecks(const Api& api, const ClusterView& view,
                         v1::CheckNodesResponse& response) {
  const auto add = [&](const char* name, bool ok, const std::string& found, const char* advice) {
    v1::NodeCheck& check = *response.add_controller();
    check.set_name(name);
    check.set_ok(ok);
    check.set_found(found);
    if (!ok) check.set_advice(advice);
  };
  const std::vector<v1::StorageProblem> problems = api.storage.Problems();
  add("store", problems.empty(), problems.empty() ? "sound" : problems.front().message(),
      "`trainyard server status` lists all problems; restore a backup if pages are damaged");
  const std::vector<std::string> losses = LossWarnings(view.state, view.now);
  add("history", losses.empty(), losses.empty() ? "complete" : losses.back(),
      "follow the advice in this warning; the warning disappears after seven days");
  v1::GetServerInfoResponse space;
  *space.mutable_leadership() = api.server_info.leadership();
  if (api.add_space) api.add_space(space);
  if (space.disk_bytes() > 0) {
    add("disk", space.disk_free_bytes() >= kFreeBytesMin,
        absl::StrCat(space.disk_free_bytes() >> 30, " GiB free of ", space.disk_bytes() >> 30,
                     " GiB"),
        "free disk space, or shorten retention (deploy/README.md)");
  }
  for (const v1::HookStatus& hook : space.hooks()) {
    add("hook", hook.failing_since_ms() == 0,
        absl::StrCat(hook.name(), hook.error().empty() ? ": works" : ": ", hook.error()),
        "check that the receiver of this hook accepts POST requests, or that the program of this "
        "hook exits with 0; until then, events are queued");
  }
  for (v1::NodeCheck& check : DatabaseChecks(space)) {
    *response.add_controller() = std::move(check);
  }
  const auto& warnings = api.server_info.warnings();
  add("access", warnings.empty(), warnings.empty() ? api.server_info.access() : warnings.Get(0),
      "configure a TLS certificate and start the controller without --insecure");
}

}  // namespace

void AddReservations(const ReservedNodes& reserved, v1::Node& node) {
  for (const v1::NodeReservation* reservation : reserved.On(node.id())) {
    *node.add_reservations() = *reservation;
  }
}

v1::Node NodeNow(const NodeEntry& entry, const ClusterView& view) {
  v1::Node node = entry.node;
  node.set_score(ScoreOf(node, view.now));
  node.set_word(WordOf(node));
  for (std::string& group : GroupNames(view.state, node)) node.add_groups(std::move(group));
  const auto observed = view.observations.nodes.find(node.id());
  if (observed != view.observations.nodes.end()) {
    node.set_last_heartbeat_ms(
        std::max(node.last_heartbeat_ms(), observed->second.last_heartbeat_ms));
    node.set_disk_bytes(observed->second.condition.disk_bytes());
    node.set_disk_free_bytes(observed->second.condition.disk_free_bytes());
  }
  for (v1::SlotUse& use : *node.mutable_slot_uses()) {
    if (use.job_id() == 0) continue;
    use.set_unkillable(UnkillableOn(view.observations, node.id(), HolderOf(use)));
  }
  return node;
}

void handlers::ListNodes(const Api& api, const Principal& /*principal*/,
                         Reply<v1::ListNodesResponse> reply) {
  api.loop.Read([reply = std::move(reply)](const ClusterView& view) {
    v1::ListNodesResponse response;
    const ReservedNodes reserved(view.state, view.now);
    for (const auto& [id, entry] : view.state.nodes) {
      v1::Node& node = *response.add_nodes();
      node = NodeNow(entry, view);
      AddReservations(reserved, node);
      for (const v1::SlotUse& use : entry.node.slot_uses()) {
        const JobEntry* job = FindEntry(view.state, use.job_id());
        if (job != nullptr) (*response.mutable_job_names())[use.job_id()] = job->job.name();
      }
    }
    response.set_revision(view.revision);
    response.set_as_of_ms(view.now);
    reply(std::move(response));
  });
}

void handlers::GetTopology(const Api& api, const Principal& /*principal*/,
                           Reply<v1::GetTopologyResponse> reply) {
  api.loop.Read(
      [reply = std::move(reply)](const ClusterView& view) { reply(TopologyReport(view)); });
}

namespace {

void ReplaceTopology(const Api& api, const Principal& principal, v1::SetTopologyRequest request,
                     Reply<v1::SetTopologyResponse> reply) {
  api.loop.Submit(
      controller::SetTopology{std::move(request), principal},
      [reply = std::move(reply)](const RequestOutcome& outcome, const ClusterView& view) {
        if (!outcome.ok()) return reply(outcome.status());
        v1::SetTopologyResponse response;
        *response.mutable_topology() = TopologyReport(view);
        for (std::string& warning : DividedGangs(view.state)) {
          response.add_warnings(std::move(warning));
        }
        reply(std::move(response));
      });
}

}  // namespace

// Parses a topology file on a reader thread, because YAML of 1 MiB takes longer than a request may
// block the threads of gRPC or HTTP.
void handlers::SetTopology(const Api& api, const Principal& principal,
                           v1::SetTopologyRequest request, Reply<v1::SetTopologyResponse> reply) {
  if (request.topology_file().empty()) {
    return ReplaceTopology(api, principal, std::move(request), std::move(reply));
  }
  if (request.has_topology()) {
    return reply(absl::InvalidArgumentError("set either topology or topology_file, not both"));
  }
  const bool queued = api.readers.TryPost([&api, principal, request, reply]() mutable {
    absl::StatusOr<v1::Topology> topology = ParseTopology(request.topology_file());
    if (!topology.ok()) return reply(topology.status());
    request.clear_topology_file();
    *request.mutable_topology() = *std::move(topology);
    ReplaceTopology(api, principal, std::move(request), reply);
  });
  if (!queued) reply(ReaderPool::Busy());
}

namespace {

// Answers with the node's state after the request was applied.
template <typename Response>
RequestDone AnswerWithNode(std::string reference, Reply<Response> reply) {
  return [reference = std::move(reference), reply = std::move(reply)](const RequestOutcome& outcome,
                                                                      const ClusterView& view) {
    if (!outcome.ok()) return reply(outcome.status());
    const auto node_id = FindNode(view.state, reference);
    if (!node_id.ok()) return reply(node_id.status());
    Response response;
    *response.mutable_node() = NodeNow(view.state.nodes.at(*node_id), view);
    reply(std::move(response));
  };
}

}  // namespace

void handlers::CordonNode(const Api& api, const Principal& principal, v1::CordonNodeRequest request,
                          Reply<v1::CordonNodeResponse> reply) {
  auto done = AnswerWithNode(request.node(), std::move(reply));
  api.loop.Submit(controller::CordonNode{std::move(request), principal}, std::move(done));
}

void handlers::ReleaseNode(const Api& api, const Principal& principal,
                           v1::ReleaseNodeRequest request, Reply<v1::ReleaseNodeResponse> reply) {
  auto done = AnswerWithNode(request.node(), std::move(reply));
  api.loop.Submit(controller::ReleaseNode{std::move(request), principal}, std::move(done));
}

void handlers::RemoveNode(const Api& api, const Principal& principal, v1::RemoveNodeRequest request,
                          Reply<v1::RemoveNodeResponse> reply) {
  api.loop.Submit(
      controller::RemoveNode{std::move(request), principal},
      [reply = std::move(reply)](const RequestOutcome& outcome, const ClusterView& /*view*/) {
        if (!outcome.ok()) return reply(outcome.status());
        v1::RemoveNodeResponse response;
        response.set_id(outcome->front().node_removed().node_id());
        response.set_name(outcome->front().node_removed().name());
        reply(std::move(response));
      });
}

void handlers::CheckNodes(const Api& api, const Principal& /*principal*/,
                          Reply<v1::CheckNodesResponse> reply) {
  api.loop.Read([&api, reply = std::move(reply)](const ClusterView& view) {
    v1::CheckNodesResponse response;
    response.set_as_of_ms(view.now);
    for (const auto& [id, entry] : view.state.nodes) {
      *response.add_nodes() = ChecksOf(view.state, entry, view.observations);
    }
    AddControllerChecks(api, view, response);
    reply(std::move(response));
  });
}

void handlers::CheckStores(const Api& api, const Principal& /*principal*/,
                           Reply<v1::CheckStoresResponse> reply) {
  const bool queued = api.searchers.TryPost([&api, reply] {
    const absl::Status files = CheckStoresAreFiles(api.server_info.data_dir());
    if (!files.ok()) return reply(files);
    v1::CheckStoresResponse response;
    for (const StoreName store : kStoreNames) {
      const std::string path = absl::StrCat(api.server_info.data_dir(), "/", NameOf(store), ".db");
      StoreCheckResult result = CheckDatabase(path);
      v1::StoreCheck& check = *response.add_stores();
      check.set_store(NameOf(store));
      check.set_path(path);
      check.set_bytes(result.bytes);
      check.set_cluster_id(result.cluster_id);
      for (std::string& problem : result.problems) check.add_problems(std::move(problem));
      const bool foreign =
          !result.cluster_id.empty() && result.cluster_id != api.server_info.cluster_id();
      if (foreign) check.add_problems(absl::StrCat("belongs to cluster ", result.cluster_id));
    }
    reply(std::move(response));
  });
  if (!queued) reply(ReaderPool::Busy());
}

void handlers::GetServerInfo(const Api& api, const Principal& /*principal*/,
                             Reply<v1::GetServerInfoResponse> reply) {
  api.loop.Read([&api, reply = std::move(reply)](const ClusterView& view) {
    v1::GetServerInfoResponse response = api.server_info;
    response.set_grpc_port(api.grpc_port);
    for (const char* capability : {"cordon", "delete", "events", "logs", "metrics", "plan",
                                   "queues", "reservations", "stop", "submit", "topology"}) {
      response.add_capabilities(capability);
    }
    *response.mutable_cluster() = SummaryOf(view.state, api.events.archive());
    for (v1::StorageProblem& problem : api.storage.Problems()) {
      *response.add_storage_problems() = std::move(problem);
    }
    if (api.add_space) api.add_space(response);
    for (std::string& warning : LossWarnings(view.state, view.now)) {
      response.add_warnings(std::move(warning));
    }
    const std::string clock = ClockWarning(view.state.clock, view.observations);
    if (!clock.empty()) response.add_warnings(clock);
    response.set_revision(view.revision);
    response.set_as_of_ms(view.now);
    for (v1::HookStatus& hook : *response.mutable_hooks()) {
      if (hook.position() >= view.revision) continue;
      hook.set_behind(static_cast<int64_t>(view.revision - hook.position()));
    }
    reply(std::move(response));
  });
}

}  // namespace trainyard::controller
