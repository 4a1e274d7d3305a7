#include "proto/jobspec/matrix/matrix.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "proto/jobspec/matrix/matrix_exclude.h"
#include "proto/support/status_macros.h"

namespace trainyard {

std::string ElementName(const std::string& array, int64_t index) {
  return absl::StrCat(array, ".", index);
}

absl::StatusOr<std::string> MatrixText(const std::string& key, const YAML::Node& node) {
  return key == kExcludeKey ? ExcludeText(node) : AxisText(node);
}

absl::StatusOr<Matrix> Matrix::Of(const v1::JobSpec& spec) {
  Matrix matrix;
  // The map of a message has no order of its own.
  const std::map<std::string, std::string> sorted(spec.matrix().begin(), spec.matrix().end());
  for (const auto& [key, text] : sorted) {
    if (key == kExcludeKey) continue;
    const absl::StatusOr<MatrixAxis> axis = MatrixAxis::Parse(key, text);
    if (!axis.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("`matrix.", key, "` ", axis.status().message()));
    }
    matrix.axes_.push_back(*axis);
  }
  __int128 size = 1;
  matrix.strides_.resize(matrix.axes_.size());
  for (std::size_t i = matrix.axes_.size(); i-- > 0;) {
    matrix.strides_[i] = static_cast<int64_t>(size);
    size *= matrix.axes_[i].size();
    if (size > kMaxArrayElements) {
      return absl::InvalidArgumentError(
          absl::StrCat("`matrix` describes more than ", kMaxArrayElements,
                       " elements, which is the maximum; remove values, or divide the array"));
    }
  }
  matrix.size_ = static_cast<int64_t>(size);
  const auto exclude = sorted.find(kExcludeKey);
  if (exclude == sorted.end()) return matrix;
  if (matrix.axes_.empty()) {
    return absl::InvalidArgumentError(
        "`matrix` has only `exclude`; add a key with the values that the elements have");
  }
  TRAINYARD_ASSIGN_OR_RETURN(matrix.left_out_,
                             ExcludedCombinations(exclude->second, matrix.axes_, matrix.strides_));
  matrix.size_ -= static_cast<int64_t>(matrix.left_out_.size());
  if (matrix.size_ > 0) return matrix;
  return absl::InvalidArgumentError(
      "`matrix.exclude` leaves out every combination; remove some of its entries");
}

std::vector<std::pair<std::string, std::string>> Matrix::SettingsOf(int64_t index) const {
  // The number of the combination in the product. left_out_[i] - i elements precede left_out_[i],
  // and this difference does not descend.
  int64_t skipped = 0;
  for (int64_t end = static_cast<int64_t>(left_out_.size()); skipped < end;) {
    const int64_t middle = (skipped + end) / 2;
    left_out_[middle] - middle <= index ? skipped = middle + 1 : end = middle;
  }
  const int64_t combination = index + skipped;
  std::vector<std::pair<std::string, std::string>> settings;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    settings.emplace_back(axes_[i].key(),
                          axes_[i].ValueAt(combination / strides_[i] % axes_[i].size()));
  }
  return settings;
}

std::optional<int64_t> Matrix::ElementWith(std::size_t axis, int64_t position) const {
  const int64_t stride = strides_[axis], all = axes_[axis].size();
  const int64_t others = (size_ + static_cast<int64_t>(left_out_.size())) / all;
  // At most kMaxExcluded combinations are left out, so the loop is short.
  for (int64_t other = 0; other < others; ++other) {
    const int64_t combination = other / stride * stride * all + position * stride + other % stride;
    const auto skipped = std::ranges::lower_bound(left_out_, combination);
    const bool is_left_out = skipped != left_out_.end() && *skipped == combination;
    if (!is_left_out) return combination - (skipped - left_out_.begin());
  }
  return std::nullopt;
}

}  // namespace trainyard
