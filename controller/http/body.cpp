#include "controller/http/body.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "controller/api/job_files/sent_job_file.h"
#include "nlohmann/json.hpp"
#include "proto/jobspec/fields/scalar_text.h"
#include "proto/jobspec/fields/schema.h"
#include "proto/jobspec/loader.h"
#include "proto/json/enum_text.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller::http {
namespace {

using Json = nlohmann::json;

// The maximum nesting depth of the JSON, which limits recursion. No job file is deeper.
constexpr int kMaxDepth = 32;
constexpr char kSpecName[] = "spec";

int DepthOf(const std::string& text) {
  int depth = 0, deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      deepest = std::max(deepest, ++depth);
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return deepest;
}

// Returns an error if the object has a key that is not in `keys`.
absl::Status CheckKeys(const Json& json, const std::vector<std::string>& keys) {
  for (const auto& [key, value] : json.items()) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    const std::string nearest = NearestName(key, keys);
    return absl::InvalidArgumentError(
        absl::StrCat("unknown key `", key, "`",
                     nearest.empty() ? absl::StrCat("; the keys are ", absl::StrJoin(keys, ", "))
                                     : absl::StrCat("; did you mean `", nearest, "`?")));
  }
  return absl::OkStatus();
}

// Parses the body as an object. Keys other than the given keys are errors.
absl::StatusOr<Json> ReadObject(const std::string& body, const std::vector<std::string>& keys) {
  if (body.empty()) return Json::object();
  if (DepthOf(body) > kMaxDepth) {
    return absl::InvalidArgumentError(
        absl::StrCat("the body is nested more than ", kMaxDepth, " levels deep"));
  }
  Json json;
  try {
    json = Json::parse(body);
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("the body is not JSON: ", error.what()));
  }
  if (!json.is_object()) return absl::InvalidArgumentError("the body must be a JSON object");
  TRAINYARD_RETURN_IF_ERROR(CheckKeys(json, keys));
  return json;
}

absl::StatusOr<std::string> TextOf(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return "";
  if (!found->is_string()) return absl::InvalidArgumentError(absl::StrCat(key, ": must be text"));
  return found->get<std::string>();
}

// Returns false if the key is missing.
absl::StatusOr<bool> FlagOf(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return false;
  if (!found->is_boolean()) {
    return absl::InvalidArgumentError(absl::StrCat(key, ": must be true or false"));
  }
  return found->get<bool>();
}

// Returns the list of strings under the key, or an empty list if the key is missing.
absl::StatusOr<std::vector<std::string>> TextsOf(const Json& json, const char* key) {
  const auto found = json.find(key);
  std::vector<std::string> texts;
  if (found == json.end() || found->is_null()) return texts;
  const absl::Status wrong =
      absl::InvalidArgumentError(absl::StrCat(key, ": must be a list of strings"));
  if (!found->is_array()) return wrong;
  for (const Json& one : *found) {
    if (!one.is_string()) return wrong;
    texts.push_back(one.get<std::string>());
  }
  return texts;
}

// Returns nullopt if the key is missing.
absl::StatusOr<std::optional<int64_t>> WholeNumberOf(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return std::nullopt;
  const bool fits = found->is_number_integer() &&
                    (!found->is_number_unsigned() ||
                     found->get<uint64_t>() <= uint64_t{std::numeric_limits<int64_t>::max()});
  if (!fits) return absl::InvalidArgumentError(absl::StrCat(key, ": must be a whole number"));
  return found->get<int64_t>();
}

absl::StatusOr<std::optional<double>> NumberOf(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return std::nullopt;
  if (!found->is_number())
    return absl::InvalidArgumentError(absl::StrCat(key, ": must be a number"));
  return found->get<double>();
}

// Copies the text of a job file and the overrides into the request. The request handler resolves
// the text later.
template <typename Request>
absl::Status ReadJobFile(const Json& json, Request& request) {
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_job_file(), TextOf(json, "job_file"));
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<std::string> overrides, TextsOf(json, "overrides"));
  for (const std::string& one : overrides) request.add_overrides(one);
  TRAINYARD_RETURN_IF_ERROR(CheckOverrides(request.overrides_size()));
  if (request.job_file().empty() && !json.contains("spec") && !overrides.empty()) {
    return absl::InvalidArgumentError("overrides: allowed only with job_file or spec");
  }
  if (!request.job_file().empty() && json.contains("spec")) {
    return absl::InvalidArgumentError("set either spec or job_file, not both");
  }
  return absl::OkStatus();
}

// Uses the loader of job files, so that the same rules and messages apply.
absl::StatusOr<ResolvedSpec> ReadSpec(const Json& json, const std::vector<std::string>& overrides) {
  const auto spec = json.find("spec");
  if (spec == json.end() || !spec->is_object()) {
    return absl::InvalidArgumentError(
        "spec: must be an object with the settings of a job file; to send the text of a job file, "
        "use job_file");
  }
  if (spec->contains("extends")) {
    return absl::InvalidArgumentError(
        "spec.extends: not allowed in a spec; send the text of the job file as job_file instead");
  }
  const std::string text = spec->dump(1, ' ', false, Json::error_handler_t::replace);
  return ResolveJobFile(
      kSpecName, overrides,
      [&](const std::string& reference, const std::string&) -> absl::StatusOr<JobFileText> {
        if (reference == kSpecName) return JobFileText{kSpecName, text};
        return absl::NotFoundError(absl::StrCat("no file ", reference));
      });
}

// Converts origins to messages. If the controller's own copy of the spec is the origin, its line
// and column mean nothing to the client, so the origin becomes "request".
std::vector<v1::Origin> ToOrigins(const Origins& origins) {
  std::vector<v1::Origin> list;
  for (const auto& [key, source] : origins) {
    v1::Origin& origin = list.emplace_back();
    origin.set_key(key);
    origin.set_source(source.starts_with("spec:") ? "request" : source);
  }
  return list;
}

// Returns a number of 32 bits, or nullopt if the key is missing.
absl::StatusOr<std::optional<int>> SmallNumberOf(const Json& json, const char* key) {
  TRAINYARD_ASSIGN_OR_RETURN(const auto number, WholeNumberOf(json, key));
  if (!number.has_value()) return std::nullopt;
  if (*number < std::numeric_limits<int>::min() || *number > std::numeric_limits<int>::max()) {
    return absl::InvalidArgumentError(absl::StrCat(key, ": ", *number, " is out of range"));
  }
  return static_cast<int>(*number);
}

absl::StatusOr<v1::SlotQuota> QuotaOf(const Json& json) {
  if (!json.is_object()) return absl::InvalidArgumentError("quotas: must be a list of objects");
  TRAINYARD_RETURN_IF_ERROR(
      CheckKeys(json, {"device", "nominal", "max_slots", "max_slots_per_user"}));
  v1::SlotQuota quota;
  TRAINYARD_ASSIGN_OR_RETURN(const std::string device, TextOf(json, "device"));
  const auto* kind = EnumValueByShortName(*v1::DeviceKind_descriptor(), device);
  if (kind == nullptr) return absl::InvalidArgumentError("device: must be gpu or cpu");
  quota.set_device(static_cast<v1::DeviceKind>(kind->number()));
  TRAINYARD_ASSIGN_OR_RETURN(const auto nominal, SmallNumberOf(json, "nominal"));
  TRAINYARD_ASSIGN_OR_RETURN(const auto most, SmallNumberOf(json, "max_slots"));
  TRAINYARD_ASSIGN_OR_RETURN(const auto per_user, SmallNumberOf(json, "max_slots_per_user"));
  quota.set_nominal(nominal.value_or(0));
  quota.set_max_slots(most.value_or(0));
  quota.set_max_slots_per_user(per_user.value_or(0));
  return quota;
}

absl::StatusOr<v1::Queue> QueueOf(const Json& json) {
  TRAINYARD_RETURN_IF_ERROR(CheckKeys(json, {"name", "shares", "tier", "quotas"}));
  v1::Queue queue;
  TRAINYARD_ASSIGN_OR_RETURN(*queue.mutable_name(), TextOf(json, "name"));
  TRAINYARD_ASSIGN_OR_RETURN(const auto shares, SmallNumberOf(json, "shares"));
  TRAINYARD_ASSIGN_OR_RETURN(const auto tier, SmallNumberOf(json, "tier"));
  queue.set_shares(shares.value_or(0));
  queue.set_tier(tier.value_or(0));
  const auto quotas = json.find("quotas");
  if (quotas == json.end()) return queue;
  if (!quotas->is_array()) return absl::InvalidArgumentError("quotas: must be a list of objects");
  for (const Json& one : *quotas) {
    TRAINYARD_ASSIGN_OR_RETURN(*queue.add_quotas(), QuotaOf(one));
  }
  return queue;
}

constexpr char kTopologyForm[] =
    "topology: must be an object with a list of groups, such as {\"groups\": [{\"name\": "
    "\"leaf1\", "
    "\"level\": \"leaf\", \"nodes\": [\"gpu[01-16]\"]}]}";

absl::StatusOr<v1::TopologyGroup> GroupOf(const Json& json) {
  if (!json.is_object()) return absl::InvalidArgumentError(kTopologyForm);
  TRAINYARD_RETURN_IF_ERROR(CheckKeys(json, {"name", "level", "groups", "nodes"}));
  v1::TopologyGroup group;
  TRAINYARD_ASSIGN_OR_RETURN(*group.mutable_name(), TextOf(json, "name"));
  TRAINYARD_ASSIGN_OR_RETURN(*group.mutable_level(), TextOf(json, "level"));
  TRAINYARD_ASSIGN_OR_RETURN(const auto groups, TextsOf(json, "groups"));
  group.mutable_groups()->Add(groups.begin(), groups.end());
  TRAINYARD_ASSIGN_OR_RETURN(const auto nodes, TextsOf(json, "nodes"));
  group.mutable_nodes()->Add(nodes.begin(), nodes.end());
  return group;
}

absl::StatusOr<v1::TopologyLevel> LevelOf(const Json& json) {
  if (!json.is_object()) return absl::InvalidArgumentError("levels: must be a list of objects");
  TRAINYARD_RETURN_IF_ERROR(CheckKeys(json, {"name", "gpu_bandwidth", "latency_seconds"}));
  v1::TopologyLevel level;
  TRAINYARD_ASSIGN_OR_RETURN(*level.mutable_name(), TextOf(json, "name"));
  TRAINYARD_ASSIGN_OR_RETURN(const auto bandwidth, NumberOf(json, "gpu_bandwidth"));
  TRAINYARD_ASSIGN_OR_RETURN(const auto latency, NumberOf(json, "latency_seconds"));
  level.set_gpu_bandwidth(bandwidth.value_or(0));
  level.set_latency_seconds(latency.value_or(0));
  return level;
}

absl::StatusOr<v1::NodeReservation> ReservationOf(const Json& json) {
  TRAINYARD_RETURN_IF_ERROR(
      CheckKeys(json, {"name", "nodes", "start_ms", "end_ms", "queue", "user", "reason", "drain"}));
  v1::NodeReservation reservation;
  TRAINYARD_ASSIGN_OR_RETURN(*reservation.mutable_name(), TextOf(json, "name"));
  TRAINYARD_ASSIGN_OR_RETURN(const auto nodes, TextsOf(json, "nodes"));
  reservation.mutable_nodes()->Assign(nodes.begin(), nodes.end());
  TRAINYARD_ASSIGN_OR_RETURN(const auto start_ms, WholeNumberOf(json, "start_ms"));
  TRAINYARD_ASSIGN_OR_RETURN(const auto end_ms, WholeNumberOf(json, "end_ms"));
  reservation.set_start_ms(start_ms.value_or(0));
  reservation.set_end_ms(end_ms.value_or(0));
  TRAINYARD_ASSIGN_OR_RETURN(*reservation.mutable_queue(), TextOf(json, "queue"));
  TRAINYARD_ASSIGN_OR_RETURN(*reservation.mutable_user(), TextOf(json, "user"));
  TRAINYARD_ASSIGN_OR_RETURN(*reservation.mutable_reason(), TextOf(json, "reason"));
  TRAINYARD_ASSIGN_OR_RETURN(const bool drain, FlagOf(json, "drain"));
  reservation.set_drain(drain);
  return reservation;
}

}  // namespace

absl::StatusOr<v1::SubmitJobRequest> ReadSubmitBody(const std::string& body) {
  TRAINYARD_ASSIGN_OR_RETURN(const Json json,
                             ReadObject(body, {"spec", "origins", "user", "request_id", "job_file",
                                               "overrides", "hold", "cloned_from"}));
  v1::SubmitJobRequest request;
  TRAINYARD_ASSIGN_OR_RETURN(const bool hold, FlagOf(json, "hold"));
  request.set_hold(hold);
  TRAINYARD_ASSIGN_OR_RETURN(const auto cloned_from, WholeNumberOf(json, "cloned_from"));
  request.set_cloned_from(cloned_from.value_or(0));
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_user(), TextOf(json, "user"));
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_request_id(), TextOf(json, "request_id"));
  TRAINYARD_RETURN_IF_ERROR(ReadJobFile(json, request));
  if (!request.job_file().empty()) return request;
  TRAINYARD_ASSIGN_OR_RETURN(ResolvedSpec resolved, ReadSpec(json, {request.overrides().begin(),
                                                                    request.overrides().end()}));
  request.clear_overrides();
  *request.mutable_spec() = std::move(resolved.spec);
  for (v1::Origin& origin : ToOrigins(resolved.origins)) *request.add_origins() = std::move(origin);
  return request;
}

absl::StatusOr<v1::PlanJobRequest> ReadPlanBody(const std::string& body,
                                                std::vector<v1::Origin>& origins) {
  TRAINYARD_ASSIGN_OR_RETURN(const Json json, ReadObject(body, {"spec", "job_file", "overrides"}));
  v1::PlanJobRequest request;
  TRAINYARD_RETURN_IF_ERROR(ReadJobFile(json, request));
  if (!request.job_file().empty()) return request;
  TRAINYARD_ASSIGN_OR_RETURN(ResolvedSpec resolved, ReadSpec(json, {request.overrides().begin(),
                                                                    request.overrides().end()}));
  request.clear_overrides();
  *request.mutable_spec() = std::move(resolved.spec);
  origins = ToOrigins(resolved.origins);
  return request;
}

absl::StatusOr<v1::PlanLayoutRequest> ReadPlanLayoutBody(const std::string& body) {
  TRAINYARD_ASSIGN_OR_RETURN(const Json json,
                             ReadObject(body, {"recipe", "job_file", "overrides", "device", "nodes",
                                               "per_node", "network", "price", "layout"}));
  v1::PlanLayoutRequest request;
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_recipe(), TextOf(json, "recipe"));
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_job_file(), TextOf(json, "job_file"));
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_device(), TextOf(json, "device"));
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_network(), TextOf(json, "network"));
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_layout(), TextOf(json, "layout"));
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<std::string> overrides, TextsOf(json, "overrides"));
  for (const std::string& one : overrides) request.add_overrides(one);
  TRAINYARD_ASSIGN_OR_RETURN(const auto nodes, WholeNumberOf(json, "nodes"));
  if (nodes.has_value()) request.set_nodes(*nodes);
  TRAINYARD_ASSIGN_OR_RETURN(const auto per_node, WholeNumberOf(json, "per_node"));
  if (per_node.has_value()) request.set_per_node(*per_node);
  TRAINYARD_ASSIGN_OR_RETURN(const auto price, NumberOf(json, "price"));
  if (price.has_value()) request.set_price(*price);
  return request;
}

namespace {

// Parses a body that contains only the user.
template <typename Request>
absl::StatusOr<Request> ReadUserBody(const std::string& body) {
  TRAINYARD_ASSIGN_OR_RETURN(const Json json, ReadObject(body, {"user"}));
  Request request;
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_user(), TextOf(json, "user"));
  return request;
}

// Parses a body that contains only a reason and the user.
template <typename Request>
absl::StatusOr<Request> ReadReasonBody(const std::string& body) {
  TRAINYARD_ASSIGN_OR_RETURN(const Json json, ReadObject(body, {"reason", "user"}));
  Request request;
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_reason(), TextOf(json, "reason"));
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_user(), TextOf(json, "user"));
  return request;
}

}  // namespace

absl::StatusOr<v1::StopJobRequest> ReadStopBody(const std::string& body) {
  return ReadUserBody<v1::StopJobRequest>(body);
}

absl::StatusOr<v1::PauseJobRequest> ReadPauseBody(const std::string& body) {
  return ReadUserBody<v1::PauseJobRequest>(body);
}

absl::StatusOr<v1::ResumeJobRequest> ReadResumeBody(const std::string& body) {
  return ReadUserBody<v1::ResumeJobRequest>(body);
}

absl::StatusOr<v1::ExtendJobRequest> ReadExtendBody(const std::string& body) {
  TRAINYARD_ASSIGN_OR_RETURN(const Json json, ReadObject(body, {"by", "extended_ms", "user"}));
  v1::ExtendJobRequest request;
  TRAINYARD_ASSIGN_OR_RETURN(const std::string by, TextOf(json, "by"));
  const absl::StatusOr<int64_t> by_ms = ParseDurationMs(by);
  if (!by_ms.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("`by` ", by_ms.status().message()));
  }
  request.mutable_by()->set_seconds(*by_ms / 1000);
  request.mutable_by()->set_nanos(static_cast<int32_t>(*by_ms % 1000) * 1'000'000);
  TRAINYARD_ASSIGN_OR_RETURN(const auto extended_ms, WholeNumberOf(json, "extended_ms"));
  if (extended_ms.has_value()) request.set_extended_ms(*extended_ms);
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_user(), TextOf(json, "user"));
  return request;
}

absl::StatusOr<v1::WriteNoteRequest> ReadNoteBody(const std::string& body) {
  TRAINYARD_ASSIGN_OR_RETURN(const Json json, ReadObject(body, {"step", "text", "user"}));
  v1::WriteNoteRequest request;
  TRAINYARD_ASSIGN_OR_RETURN(const auto step, WholeNumberOf(json, "step"));
  if (step.has_value()) request.set_step(*step);
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_text(), TextOf(json, "text"));
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_user(), TextOf(json, "user"));
  return request;
}

absl::StatusOr<v1::MoveJobRequest> ReadMoveBody(const std::string& body) {
  TRAINYARD_ASSIGN_OR_RETURN(const Json json, ReadObject(body, {"queue", "priority", "user"}));
  v1::MoveJobRequest request;
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_queue(), TextOf(json, "queue"));
  TRAINYARD_ASSIGN_OR_RETURN(const auto priority, SmallNumberOf(json, "priority"));
  if (priority.has_value()) request.set_priority(*priority);
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_user(), TextOf(json, "user"));
  return request;
}

absl::StatusOr<v1::SetQueueRequest> ReadQueueBody(const std::string& body) {
  TRAINYARD_ASSIGN_OR_RETURN(const Json json, ReadObject(body, {"queue", "user"}));
  v1::SetQueueRequest request;
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_user(), TextOf(json, "user"));
  const auto queue = json.find("queue");
  if (queue == json.end()) return request;
  if (!queue->is_object()) return absl::InvalidArgumentError("queue: must be an object");
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_queue(), QueueOf(*queue));
  return request;
}

absl::StatusOr<v1::SetTopologyRequest> ReadTopologyBody(const std::string& body) {
  TRAINYARD_ASSIGN_OR_RETURN(const Json json,
                             ReadObject(body, {"topology", "topology_file", "user"}));
  v1::SetTopologyRequest request;
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_user(), TextOf(json, "user"));
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_topology_file(), TextOf(json, "topology_file"));
  const auto topology = json.find("topology");
  if (!request.topology_file().empty()) {
    if (topology == json.end()) return request;
    return absl::InvalidArgumentError("set either topology or topology_file, not both");
  }
  // A missing key must not remove the topology.
  if (topology == json.end() || !topology->is_object() || !topology->contains("groups")) {
    return absl::InvalidArgumentError(kTopologyForm);
  }
  TRAINYARD_RETURN_IF_ERROR(CheckKeys(*topology, {"groups", "levels"}));
  const Json& groups = (*topology)["groups"];
  if (!groups.is_array()) return absl::InvalidArgumentError(kTopologyForm);
  for (const Json& group : groups) {
    TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_topology()->add_groups(), GroupOf(group));
  }
  const auto levels = topology->find("levels");
  if (levels == topology->end()) return request;
  if (!levels->is_array()) return absl::InvalidArgumentError("levels: must be a list of objects");
  for (const Json& level : *levels) {
    TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_topology()->add_levels(), LevelOf(level));
  }
  return request;
}

absl::StatusOr<v1::CreateReservationRequest> ReadReservationBody(const std::string& body) {
  TRAINYARD_ASSIGN_OR_RETURN(const Json json, ReadObject(body, {"reservation", "user"}));
  v1::CreateReservationRequest request;
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_user(), TextOf(json, "user"));
  const auto found = json.find("reservation");
  if (found == json.end()) return request;
  if (!found->is_object()) return absl::InvalidArgumentError("reservation: must be an object");
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_reservation(), ReservationOf(*found));
  return request;
}

absl::StatusOr<v1::CordonNodeRequest> ReadCordonBody(const std::string& body) {
  return ReadReasonBody<v1::CordonNodeRequest>(body);
}

absl::StatusOr<v1::CordonNodeRequest> ReadDrainBody(const std::string& body) {
  TRAINYARD_ASSIGN_OR_RETURN(const Json json,
                             ReadObject(body, {"drain_after_ms", "reason", "user"}));
  v1::CordonNodeRequest request;
  TRAINYARD_ASSIGN_OR_RETURN(const auto after_ms, WholeNumberOf(json, "drain_after_ms"));
  request.set_drain_after_ms(after_ms.value_or(0));
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_reason(), TextOf(json, "reason"));
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_user(), TextOf(json, "user"));
  return request;
}

absl::StatusOr<v1::ReleaseNodeRequest> ReadReleaseBody(const std::string& body) {
  return ReadReasonBody<v1::ReleaseNodeRequest>(body);
}

absl::StatusOr<v1::HandOverRequest> ReadHandOverBody(const std::string& body) {
  TRAINYARD_ASSIGN_OR_RETURN(const Json json, ReadObject(body, {"from", "to", "user"}));
  v1::HandOverRequest request;
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_from(), TextOf(json, "from"));
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_to(), TextOf(json, "to"));
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_user(), TextOf(json, "user"));
  return request;
}

}  // namespace trainyard::controller::http
