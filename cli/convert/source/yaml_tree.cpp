// Reads YAML as a SourceTree.
#include "absl/strings/str_cat.h"
#include "cli/convert/source/source_tree.h"
#include "proto/support/status_macros.h"
#include "yaml-cpp/yaml.h"

namespace trainyard::cli {
namespace {

class YamlReader {
 public:
  absl::Status Add(const YAML::Node& node, const std::string& path, int depth);

  SourceTree tree;

 private:
  absl::Status CheckSize(int line, int depth);

  std::size_t visited_ = 0;
};

// Counts all nodes, not only values, because nested empty lists contain no values.
absl::Status YamlReader::CheckSize(int line, int depth) {
  if (depth > kMaxSourceDepth) {
    return absl::ResourceExhaustedError(
        absl::StrCat("line ", line, ": is nested deeper than ", kMaxSourceDepth));
  }
  if (++visited_ <= 4 * kMaxSourceValues) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("line ", line, ": aliases expand to more than ",
                                                   4 * kMaxSourceValues, " nodes"));
}

absl::Status YamlReader::Add(const YAML::Node& node, const std::string& path, int depth) {
  const int line = node.Mark().line + 1;
  TRAINYARD_RETURN_IF_ERROR(CheckSize(line, depth));
  switch (node.Type()) {
    case YAML::NodeType::Map:
      for (const auto& entry : node) {
        const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "?";
        TRAINYARD_RETURN_IF_ERROR(
            Add(entry.second, path.empty() ? key : absl::StrCat(path, ".", key), depth + 1));
      }
      return absl::OkStatus();
    case YAML::NodeType::Sequence:
      for (const YAML::Node& entry : node) {
        TRAINYARD_RETURN_IF_ERROR(Add(entry, absl::StrCat(path, "[]"), depth + 1));
      }
      return absl::OkStatus();
    case YAML::NodeType::Scalar: {
      const bool is_quoted = node.Tag() == "!";
      return tree.Add(
          {path, node.Scalar(), is_quoted ? SourceKind::kText : PlainKind(node.Scalar()), line});
    }
    default:
      return tree.Add({path, "", SourceKind::kNull, line});
  }
}

}  // namespace

absl::StatusOr<SourceTree> ReadYamlTree(const std::string& text) {
  // yaml-cpp reports errors, including its own depth limit, by exceptions.
  try {
    YamlReader reader;
    const YAML::Node root = YAML::Load(text);
    if (!root.IsMap()) {
      return absl::InvalidArgumentError("is not a YAML mapping of keys to values");
    }
    TRAINYARD_RETURN_IF_ERROR(reader.Add(root, "", 0));
    reader.tree.ResolveReferences();
    return std::move(reader.tree);
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(
        absl::StrCat("line ", error.mark.line + 1, ": is not valid YAML: ", error.msg));
  }
}

}  // namespace trainyard::cli
