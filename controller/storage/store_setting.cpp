#include "controller/storage/store_setting.h"

#include <yaml-cpp/yaml.h>

#include "absl/strings/str_cat.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

absl::StatusOr<std::string> PostgresOf(const YAML::Node& section) {
  if (!section || section.IsNull()) return std::string();
  if (!section.IsMap()) return absl::InvalidArgumentError("store: is not a map");
  std::string postgres;
  for (const auto& entry : section) {
    const auto key = entry.first.as<std::string>();
    if (key != "postgres") {
      return absl::InvalidArgumentError(
          absl::StrCat("store.", key, ": unknown key; the only key is postgres"));
    }
    postgres = entry.second.as<std::string>();
    if (postgres.empty()) {
      return absl::InvalidArgumentError(
          "store.postgres: is empty; set a connection string, such as service=trainyard");
    }
  }
  return postgres;
}

absl::StatusOr<std::string> PostgresIn(const std::string& yaml) {
  try {
    const YAML::Node document = YAML::Load(yaml);
    // Other parts of the controller report a document that is not a map.
    return document.IsMap() ? PostgresOf(document["store"]) : std::string();
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("store: ", error.what()));
  }
}

}  // namespace

absl::StatusOr<std::string> ReadPostgresSetting(const std::string& yaml, const std::string& flag) {
  TRAINYARD_ASSIGN_OR_RETURN(std::string in_file, PostgresIn(yaml));
  return flag.empty() ? in_file : flag;
}

}  // namespace trainyard::controller
