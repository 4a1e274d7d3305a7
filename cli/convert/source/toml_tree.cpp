// Reads TOML as a SourceTree.
#include <sstream>
#include <stdexcept>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/convert/source/source_tree.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
[[noreturn]] static void RefuseToml() {
  throw std::invalid_argument("a name or value is malformed");
}
}  // namespace trainyard::cli

// toml++ 3.3 checks some conditions only by assertions. A malformed file can fail an assertion, for
// example by a table name that begins with %. Such a failure must become an error.
#define TOML_ASSERT(expression) ((expression) ? static_cast<void>(0) : trainyard::cli::RefuseToml())
#include "toml++/toml.h"

namespace trainyard::cli {
namespace {

absl::Status AddTomlScalar(const toml::node& node, const std::string& path, SourceTree& tree) {
  const int line = static_cast<int>(node.source().begin.line);
  if (const auto text = node.value_exact<std::string>()) {
    return tree.Add({path, *text, SourceKind::kText, line});
  }
  if (const auto on = node.value_exact<bool>()) {
    return tree.Add({path, *on ? "true" : "false", SourceKind::kSwitch, line});
  }
  if (const auto whole = node.value_exact<int64_t>()) {
    return tree.Add({path, absl::StrCat(*whole), SourceKind::kNumber, line});
  }
  if (const auto number = node.value_exact<double>()) {
    return tree.Add({path, absl::StrFormat("%.15g", *number), SourceKind::kNumber, line});
  }
  std::ostringstream date;
  node.visit([&](const auto& value) {
    if constexpr (toml::is_date<decltype(value)> || toml::is_time<decltype(value)> ||
                  toml::is_date_time<decltype(value)>) {
      date << value.get();
    }
  });
  return tree.Add({path, date.str(), SourceKind::kText, line});
}

// Needs no check of the nesting depth, because the parser limits it.
absl::Status AddToml(const toml::node& node, const std::string& path, SourceTree& tree) {
  if (const toml::table* table = node.as_table()) {
    for (const auto& [key, value] : *table) {
      const std::string name(key.str());
      TRAINYARD_RETURN_IF_ERROR(
          AddToml(value, path.empty() ? name : absl::StrCat(path, ".", name), tree));
    }
    return absl::OkStatus();
  }
  if (const toml::array* array = node.as_array()) {
    for (const toml::node& entry : *array) {
      TRAINYARD_RETURN_IF_ERROR(AddToml(entry, absl::StrCat(path, "[]"), tree));
    }
    return absl::OkStatus();
  }
  return AddTomlScalar(node, path, tree);
}

}  // namespace

absl::StatusOr<SourceTree> ReadTomlTree(const std::string& text) {
  try {
    SourceTree tree;
    TRAINYARD_RETURN_IF_ERROR(AddToml(toml::parse(text), "", tree));
    return tree;
  } catch (const toml::parse_error& error) {
    return absl::InvalidArgumentError(
        absl::StrCat("line ", static_cast<int>(error.source().begin.line),
                     ": is not valid TOML: ", std::string(error.description())));
  } catch (const std::invalid_argument& error) {
    return absl::InvalidArgumentError(absl::StrCat("is not valid TOML: ", error.what()));
  }
}

}  // namespace trainyard::cli
