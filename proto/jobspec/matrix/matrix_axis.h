// One key of the `matrix` of a job file, and its values.
#ifndef TRAINYARD_PROTO_JOBSPEC_MATRIX_MATRIX_AXIS_H_
#define TRAINYARD_PROTO_JOBSPEC_MATRIX_MATRIX_AXIS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "yaml-cpp/yaml.h"

namespace trainyard {

// The maximum number of values in one list of a matrix.
inline constexpr int kMaxListedValues = 1000;

// Converts the values of one key to the text that the spec stores: a JSON list of texts, or a range
// such as 1..100 or 0..90:10. INVALID_ARGUMENT: the node is neither a list of values nor a range.
absl::StatusOr<std::string> AxisText(const YAML::Node& node);

// One key of a matrix, and its values.
class MatrixAxis {
 public:
  // INVALID_ARGUMENT: the text has neither of the forms of AxisText, or describes no value.
  static absl::StatusOr<MatrixAxis> Parse(const std::string& key, const std::string& text);

  const std::string& key() const { return key_; }
  // From 1 to 2^62.
  int64_t size() const { return size_; }
  bool is_range() const { return values_.empty(); }
  std::string ValueAt(int64_t position) const;
  // Returns the position of a value; nullopt if the axis does not have it. Values of a list are
  // compared as text.
  std::optional<int64_t> PositionOf(const std::string& value) const;

 private:
  std::string key_;
  std::vector<std::string> values_;  // Empty for a range.
  int64_t from_ = 0;
  int64_t step_ = 1;
  int64_t size_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_MATRIX_MATRIX_AXIS_H_
