// The `matrix` of a job file, which makes the job an array of elements.
#ifndef TRAINYARD_PROTO_JOBSPEC_MATRIX_H_
#define TRAINYARD_PROTO_JOBSPEC_MATRIX_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainyard/v1/job_spec.pb.h"
#include "yaml-cpp/yaml.h"

namespace trainyard {

// The maximum number of elements of an array.
inline constexpr int64_t kMaxArrayElements = 1'000'000;
// The maximum number of values in one list of a matrix.
inline constexpr int kMaxListedValues = 1000;

// True if the job stands for elements and never runs itself.
inline bool IsArray(const v1::JobSpec& spec) { return !spec.matrix().empty(); }

// Returns the name of an element's job.
std::string ElementName(const std::string& array, int64_t index);

// Converts the values of one key to the text that the spec stores: a JSON list of texts, or a range
// such as 1..100 or 0..90:10. INVALID_ARGUMENT: the node is neither a list of values nor a range.
absl::StatusOr<std::string> MatrixText(const YAML::Node& node);

// One key of a matrix, and its values.
class MatrixAxis {
 public:
  // INVALID_ARGUMENT: the text has neither of the forms of MatrixText, or describes no value.
  static absl::StatusOr<MatrixAxis> Parse(const std::string& key, const std::string& text);

  const std::string& key() const { return key_; }
  // From 1 to 2^62.
  int64_t size() const { return size_; }
  bool is_range() const { return values_.empty(); }
  std::string ValueAt(int64_t position) const;

 private:
  std::string key_;
  std::vector<std::string> values_;  // Empty for a range.
  int64_t from_ = 0;
  int64_t step_ = 1;
  int64_t size_ = 0;
};

// The product of all axes. Elements are numbered from 0. The last key in alphabetical order changes
// fastest.
class Matrix {
 public:
  // INVALID_ARGUMENT: an axis is not valid, or the product has more than kMaxArrayElements
  // elements. Does not build any element.
  static absl::StatusOr<Matrix> Of(const v1::JobSpec& spec);

  const std::vector<MatrixAxis>& axes() const { return axes_; }
  int64_t size() const { return size_; }
  // Returns the keys and values of an element, sorted by key.
  std::vector<std::pair<std::string, std::string>> SettingsOf(int64_t index) const;
  // Returns the index of the element with this value of one axis and the first value of all others.
  int64_t IndexOf(std::size_t axis, int64_t position) const;

 private:
  std::vector<MatrixAxis> axes_;  // Sorted by key.
  std::vector<int64_t> strides_;
  int64_t size_ = 1;
};

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_MATRIX_H_
