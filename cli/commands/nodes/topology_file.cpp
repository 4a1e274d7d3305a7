#include "cli/commands/nodes/topology_file.h"

#include <yaml-cpp/yaml.h>

#include "absl/strings/str_cat.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

constexpr char kTopologyForm[] =
    "; write `groups:` with entries such as {name: leaf1, level: leaf, nodes: [\"gpu[01-16]\"]}";

absl::Status BadLine(const YAML::Mark& mark, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("line ", mark.line + 1, ": ", why, kTopologyForm));
}

absl::Status AddNames(const YAML::Node& value, const std::string& key,
                      google::protobuf::RepeatedPtrField<std::string>& names) {
  if (value.IsScalar()) {
    *names.Add() = value.Scalar();
    return absl::OkStatus();
  }
  if (!value.IsSequence()) return BadLine(value.Mark(), absl::StrCat("`", key, "` is not a list"));
  for (const YAML::Node& item : value) {
    if (!item.IsScalar()) {
      return BadLine(item.Mark(), absl::StrCat("an entry of `", key, "` is not a name"));
    }
    *names.Add() = item.Scalar();
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::TopologyGroup> ParseGroup(const YAML::Node& node) {
  if (!node.IsMap()) return BadLine(node.Mark(), "a group is not a mapping");
  v1::TopologyGroup group;
  for (const auto& pair : node) {
    const std::string key = pair.first.Scalar();
    if (key == "nodes") {
      TRAINYARD_RETURN_IF_ERROR(AddNames(pair.second, key, *group.mutable_nodes()));
    } else if (key == "groups") {
      TRAINYARD_RETURN_IF_ERROR(AddNames(pair.second, key, *group.mutable_groups()));
    } else if ((key == "name" || key == "level") && pair.second.IsScalar()) {
      (key == "name" ? *group.mutable_name() : *group.mutable_level()) = pair.second.Scalar();
    } else {
      return BadLine(pair.first.Mark(), absl::StrCat("a group has no key `", key, "`"));
    }
  }
  return group;
}

absl::StatusOr<v1::Topology> ParseGroups(const YAML::Node& root) {
  if (!root.IsMap() || root.size() != 1 || !root["groups"]) {
    return BadLine(root.Mark(), "a topology has the key `groups` and no other");
  }
  v1::Topology topology;
  const YAML::Node groups = root["groups"];
  if (!groups.IsSequence()) return BadLine(groups.Mark(), "`groups` is not a list");
  for (const YAML::Node& group : groups) {
    TRAINYARD_ASSIGN_OR_RETURN(*topology.add_groups(), ParseGroup(group));
  }
  return topology;
}

}  // namespace

absl::StatusOr<v1::Topology> ParseTopology(const std::string& text) {
  try {
    return ParseGroups(YAML::Load(text));
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("not valid YAML: ", error.what()));
  }
}

}  // namespace trainyard::cli
