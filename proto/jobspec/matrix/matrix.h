// The `matrix` of a job file, which makes the job an array of elements.
#ifndef TRAINYARD_PROTO_JOBSPEC_MATRIX_MATRIX_H_
#define TRAINYARD_PROTO_JOBSPEC_MATRIX_MATRIX_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/jobspec/matrix/matrix_axis.h"
#include "trainyard/v1/job_spec.pb.h"
#include "yaml-cpp/yaml.h"

namespace trainyard {

// The maximum number of elements of an array.
inline constexpr int64_t kMaxArrayElements = 1'000'000;

// True if the job stands for elements and never runs itself.
inline bool IsArray(const v1::JobSpec& spec) { return !spec.matrix().empty(); }

// Returns the name of an element's job.
std::string ElementName(const std::string& array, int64_t index);

// Converts the value of one key of a `matrix` to the text that the spec stores. INVALID_ARGUMENT:
// the value has none of the forms of the key.
absl::StatusOr<std::string> MatrixText(const std::string& key, const YAML::Node& node);

// The product of all axes without the combinations of `exclude`. The elements are numbered from 0
// without gaps. The last key in alphabetical order changes fastest.
class Matrix {
 public:
  // INVALID_ARGUMENT: an axis or `exclude` is not valid, the product has more than
  // kMaxArrayElements combinations, or no element is left. Does not build any element.
  static absl::StatusOr<Matrix> Of(const v1::JobSpec& spec);

  const std::vector<MatrixAxis>& axes() const { return axes_; }
  int64_t size() const { return size_; }
  // Returns the keys and values of an element, sorted by key.
  std::vector<std::pair<std::string, std::string>> SettingsOf(int64_t index) const;
  // Returns the index of the first element with this value of one axis; nullopt if `exclude` leaves
  // out all of them.
  std::optional<int64_t> ElementWith(std::size_t axis, int64_t position) const;

 private:
  std::vector<MatrixAxis> axes_;   // Sorted by key.
  std::vector<int64_t> strides_;   // Distance of two values of an axis in the product.
  std::vector<int64_t> left_out_;  // Combinations in the product, ascending.
  int64_t size_ = 1;               // Without those left out.
};

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_MATRIX_MATRIX_H_
