#include "cli/commands/nodes/topology_file.h"

#include <yaml-cpp/yaml.h>

#include "absl/strings/numbers.h"
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
      return BadLine(pair.first.Mark(), absl::StrCat("unknown key of a group: `", key, "`"));
    }
  }
  return group;
}

absl::StatusOr<v1::TopologyLevel> ParseLevel(const YAML::Node& node) {
  if (!node.IsMap()) return BadLine(node.Mark(), "a level is not a mapping");
  v1::TopologyLevel level;
  for (const auto& pair : node) {
    const std::string key = pair.first.Scalar();
    if (key == "name" && pair.second.IsScalar()) {
      level.set_name(pair.second.Scalar());
      continue;
    }
    if (key != "gpu_bandwidth" && key != "latency_seconds") {
      return BadLine(pair.first.Mark(), absl::StrCat("unknown key of a level: `", key, "`"));
    }
    double figure = 0;
    const bool is_number =
        pair.second.IsScalar() && absl::SimpleAtod(pair.second.Scalar(), &figure);
    if (!is_number) {
      return BadLine(pair.second.Mark(), absl::StrCat("`", key, "` is not a number"));
    }
    key == "gpu_bandwidth" ? level.set_gpu_bandwidth(figure) : level.set_latency_seconds(figure);
  }
  return level;
}

absl::Status CheckRoot(const YAML::Node& root) {
  if (!root.IsMap() || !root["groups"]) {
    return BadLine(root.Mark(), "the key `groups` is missing");
  }
  for (const auto& pair : root) {
    const std::string key = pair.first.Scalar();
    if (key != "groups" && key != "levels") {
      return BadLine(pair.first.Mark(), absl::StrCat("unknown key `", key, "`"));
    }
    if (!pair.second.IsSequence()) {
      return BadLine(pair.second.Mark(), absl::StrCat("`", key, "` is not a list"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::Topology> ParseRoot(const YAML::Node& root) {
  TRAINYARD_RETURN_IF_ERROR(CheckRoot(root));
  v1::Topology topology;
  for (const YAML::Node& group : root["groups"]) {
    TRAINYARD_ASSIGN_OR_RETURN(*topology.add_groups(), ParseGroup(group));
  }
  if (!root["levels"]) return topology;
  for (const YAML::Node& level : root["levels"]) {
    TRAINYARD_ASSIGN_OR_RETURN(*topology.add_levels(), ParseLevel(level));
  }
  return topology;
}

}  // namespace

absl::StatusOr<v1::Topology> ParseTopology(const std::string& text) {
  try {
    return ParseRoot(YAML::Load(text));
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("not valid YAML: ", error.what()));
  }
}

}  // namespace trainyard::cli
