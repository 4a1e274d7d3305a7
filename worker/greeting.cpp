#include "worker/greeting.h"

#include <unistd.h>

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "proto/contract/protocol_version.h"
#include "proto/proof/digest.h"
#include "proto/proof/node_key.h"
#include "proto/proof/proof.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"
#include "proto/support/status_text.h"
#include "proto/text/node_label.h"
#include "proto/text/printable.h"
#include "spdlog/spdlog.h"
#include "worker/device/inventory.h"
#include "worker/device/route_address.h"

namespace trainyard::worker {
namespace {

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "node";
}

// Returns the local address of the route to the first controller that has a route.
absl::StatusOr<std::string> AddressOfRoute(const std::vector<std::string>& controllers) {
  absl::StatusOr<std::string> address = absl::InvalidArgumentError("--controller has no address");
  for (const std::string& controller : controllers) {
    address = AddressOfRouteTo(controller);
    if (address.ok()) break;
  }
  return address;
}

// Reads the options `--label NAME=VALUE`.
absl::StatusOr<std::map<std::string, std::string>> ReadLabels(
    const std::vector<std::string>& settings) {
  std::map<std::string, std::string> labels;
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    const std::string name = setting.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : setting.substr(equals + 1);
    std::string problem = LabelProblem(name, value);
    if (equals == std::string::npos) problem = "write NAME=VALUE";
    if (name == kDeviceLabel) problem = "this label is always the model of the node's GPUs";
    if (problem.empty() && !labels.emplace(name, value).second) problem = "it is set twice";
    if (problem.empty()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--label ", PrintableLine(setting, false), ": ", problem));
  }
  if (labels.size() <= kMaxLabels) return labels;
  return absl::InvalidArgumentError(absl::StrCat("--label is given ", labels.size(),
                                                 " times, but a node has at most ", kMaxLabels,
                                                 " labels; remove some of them"));
}

}  // namespace

absl::StatusOr<v1::Hello> MakeGreeting(const WorkerOptions& options, const DataDir& data_dir) {
  v1::Hello hello;
  hello.set_protocol_version(kProtocolVersion);
  hello.set_node_id(data_dir.node_id());
  hello.set_node_name(options.node_name.empty() ? HostName() : options.node_name);
  hello.set_incarnation(RandomId());
  hello.set_worker_version(TRAINYARD_VERSION);
  hello.set_serves_exec(true);
  hello.set_address(options.address);
  if (options.address.empty()) {
    TRAINYARD_ASSIGN_OR_RETURN(*hello.mutable_address(), AddressOfRoute(options.controllers));
  }
  TRAINYARD_ASSIGN_OR_RETURN(const auto labels, ReadLabels(options.labels));
  hello.mutable_labels()->insert(labels.begin(), labels.end());
  TRAINYARD_ASSIGN_OR_RETURN(DetectedInventory detected,
                             DetectInventory({.cpu_slots = options.cpu_slots}));
  for (const std::string& warning : detected.warnings) spdlog::warn("{}", warning);
  *hello.mutable_inventory() = std::move(detected.inventory);
  const absl::StatusOr<std::string> cluster_id = ReadSmallFile(data_dir.File("cluster_id"));
  if (cluster_id.ok()) {
    hello.set_cluster_id(std::string(absl::StripAsciiWhitespace(*cluster_id)));
  } else if (!absl::IsNotFound(cluster_id.status())) {
    return cluster_id.status();
  }
  return hello;
}

void SignHello(const std::string& challenge, const std::string& nonce, const std::string& secret,
               v1::Hello& hello) {
  hello.set_challenge(challenge);
  hello.set_nonce(nonce);
  const std::string text = HelloText(challenge, hello.node_id(), hello.incarnation(), nonce);
  hello.set_node_key(PublicKeyOf(secret));
  hello.set_signature(SignatureOf(secret, text));
  hello.set_secret_proof(SecretProof(HashOf(secret), text));
}

void KeepClusterId(const std::string& cluster_id, const DataDir& data_dir, v1::Hello& greeting) {
  if (cluster_id.empty() || greeting.cluster_id() == cluster_id) return;
  const absl::Status status = WriteFileAtomically(data_dir.File("cluster_id"), cluster_id + "\n");
  if (!status.ok()) spdlog::error("{}", Text(status));
  greeting.set_cluster_id(cluster_id);
}

}  // namespace trainyard::worker
