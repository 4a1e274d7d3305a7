#include "proto/jobspec/topology_file.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/jobspec/fields/yaml_document.h"
#include "proto/support/status_macros.h"
#include "yaml-cpp/yaml.h"

namespace trainyard {
namespace {

constexpr char kTopologyForm[] =
    "; write `groups:` with entries such as {name: leaf1, level: leaf, nodes: [\"gpu[01-16]\"]}";

absl::Status BadLine(const YAML::Mark& mark, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("line ", mark.line + 1, ": ", why, kTopologyForm));
}

// Bytes that the names may still have. Without aliases, the names of a file are shorter than its
// text. Aliases could repeat a long list thousands of times.
class NameBudget {
 public:
  absl::Status Take(const YAML::Node& node) {
    const std::size_t bytes = node.IsScalar() ? node.Scalar().size() + 1 : 1;
    if (bytes > left_) return BadLine(node.Mark(), "with its aliases, the file exceeds 1 MiB");
    left_ -= bytes;
    return absl::OkStatus();
  }

 private:
  std::size_t left_ = kMaxTopologyFileBytes;
};

absl::Status AddNames(const YAML::Node& value, const std::string& key, NameBudget& budget,
                      google::protobuf::RepeatedPtrField<std::string>& names) {
  if (value.IsScalar()) {
    *names.Add() = value.Scalar();
    return budget.Take(value);
  }
  if (!value.IsSequence()) return BadLine(value.Mark(), absl::StrCat("`", key, "` is not a list"));
  for (const YAML::Node& item : value) {
    if (!item.IsScalar()) {
      return BadLine(item.Mark(), absl::StrCat("an entry of `", key, "` is not a name"));
    }
    TRAINYARD_RETURN_IF_ERROR(budget.Take(item));
    *names.Add() = item.Scalar();
  }
  return absl::OkStatus();
}

absl::Status ReadName(const YAML::Node& value, const std::string& key, NameBudget& budget,
                      std::string& name) {
  if (!value.IsScalar()) return BadLine(value.Mark(), absl::StrCat("`", key, "` is not text"));
  name = value.Scalar();
  return budget.Take(value);
}

absl::StatusOr<v1::TopologyGroup> ParseGroup(const YAML::Node& node, NameBudget& budget) {
  if (!node.IsMap()) return BadLine(node.Mark(), "a group is not a mapping");
  TRAINYARD_RETURN_IF_ERROR(budget.Take(node));
  v1::TopologyGroup group;
  for (const auto& pair : node) {
    const std::string key = pair.first.Scalar();
    if (key == "nodes") {
      TRAINYARD_RETURN_IF_ERROR(AddNames(pair.second, key, budget, *group.mutable_nodes()));
    } else if (key == "groups") {
      TRAINYARD_RETURN_IF_ERROR(AddNames(pair.second, key, budget, *group.mutable_groups()));
    } else if (key == "name" || key == "level") {
      std::string& text = key == "name" ? *group.mutable_name() : *group.mutable_level();
      TRAINYARD_RETURN_IF_ERROR(ReadName(pair.second, key, budget, text));
    } else {
      return BadLine(pair.first.Mark(), absl::StrCat("unknown key of a group: `", key, "`"));
    }
  }
  return group;
}

absl::StatusOr<v1::TopologyLevel> ParseLevel(const YAML::Node& node, NameBudget& budget) {
  if (!node.IsMap()) return BadLine(node.Mark(), "a level is not a mapping");
  TRAINYARD_RETURN_IF_ERROR(budget.Take(node));
  v1::TopologyLevel level;
  for (const auto& pair : node) {
    const std::string key = pair.first.Scalar();
    if (key == "name") {
      TRAINYARD_RETURN_IF_ERROR(ReadName(pair.second, key, budget, *level.mutable_name()));
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
  NameBudget budget;
  for (const YAML::Node& group : root["groups"]) {
    TRAINYARD_ASSIGN_OR_RETURN(*topology.add_groups(), ParseGroup(group, budget));
  }
  if (!root["levels"]) return topology;
  for (const YAML::Node& level : root["levels"]) {
    TRAINYARD_ASSIGN_OR_RETURN(*topology.add_levels(), ParseLevel(level, budget));
  }
  return topology;
}

}  // namespace

absl::StatusOr<v1::Topology> ParseTopology(const std::string& text) {
  if (text.size() > kMaxTopologyFileBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the file has ", text.size(), " bytes; a topology file has at most 1 MiB"));
  }
  try {
    if (HoldsSeveralDocuments(text)) {
      return absl::InvalidArgumentError(
          "the file contains several YAML documents or begins with a comma; write exactly one "
          "document");
    }
    return ParseRoot(YAML::Load(text));
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("not valid YAML: ", error.what()));
  }
}

}  // namespace trainyard
