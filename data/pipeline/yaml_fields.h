// Reads the fields of a YAML mapping.
#ifndef TRAINYARD_DATA_PIPELINE_YAML_FIELDS_H_
#define TRAINYARD_DATA_PIPELINE_YAML_FIELDS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "yaml-cpp/yaml.h"

namespace trainyard::data {

// Keeps the first error. Fields that are absent keep their values.
class YamlFields {
 public:
  // `node` may be null, which has no fields.
  YamlFields(const YAML::Node& node, std::string display_name);

  void Read(const std::string& key, std::string* value);
  void Read(const std::string& key, double* value, double least, double most);
  void Read(const std::string& key, std::optional<double>* value, double least, double most);
  void Read(const std::string& key, int64_t* value, int64_t least, int64_t most);
  // A number of tokens above 0, such as 4000000, 4M or 20B. The suffixes are K, M, B and T.
  void ReadTokens(const std::string& key, int64_t* value);
  // Accepts a list, or a single text.
  void Read(const std::string& key, std::vector<std::string>* values);
  // Requires one of `choices`.
  void ReadChoice(const std::string& key, std::string* value,
                  const std::vector<std::string>& choices);
  void Require(const std::string& key);

  // Returns an error for an unknown or repeated key, or the first error of a field.
  absl::Status Finish();
  absl::Status Error(const YAML::Node& node, const std::string& problem) const;

 private:
  YAML::Node Find(const std::string& key);
  void Fail(const YAML::Node& node, const std::string& problem);

  const YAML::Node node_;
  const std::string display_name_;
  std::set<std::string> known_;
  absl::Status status_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PIPELINE_YAML_FIELDS_H_
