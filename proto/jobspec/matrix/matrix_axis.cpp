#include "proto/jobspec/matrix/matrix_axis.h"

#include <algorithm>
#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "re2/re2.h"

namespace trainyard {
namespace {

constexpr char kForms[] =
    "must be a list of values, such as [1e-4, 3e-4], or a range of whole numbers, such as "
    "{from: 1, to: 100, step: 1}";
// Bounds of ranges are smaller, so that differences do not overflow.
constexpr int64_t kLargestBound = std::numeric_limits<int64_t>::max() / 4;

// Returns the text of a range, or an error if the mapping has other keys.
absl::StatusOr<std::string> RangeText(const YAML::Node& node) {
  std::string from;
  std::string to;
  std::string step = "1";
  for (const auto& pair : node) {
    const std::string key = pair.first.IsScalar() ? pair.first.Scalar() : "";
    std::string* const part = key == "from"   ? &from
                              : key == "to"   ? &to
                              : key == "step" ? &step
                                              : nullptr;
    if (part == nullptr || !pair.second.IsScalar()) return absl::InvalidArgumentError(kForms);
    *part = pair.second.Scalar();
  }
  return absl::StrCat(from, "..", to, step == "1" ? "" : absl::StrCat(":", step));
}

}  // namespace

absl::StatusOr<std::string> AxisText(const YAML::Node& node) {
  if (node.IsScalar()) return node.Scalar();
  if (node.IsMap()) return RangeText(node);
  if (!node.IsSequence()) return absl::InvalidArgumentError(kForms);
  if (node.size() > kMaxListedValues) {
    return absl::InvalidArgumentError(absl::StrCat("has ", node.size(), " values; at most ",
                                                   kMaxListedValues,
                                                   " can be listed; use a range for more"));
  }
  nlohmann::json values = nlohmann::json::array();
  for (const YAML::Node& item : node) {
    if (!item.IsScalar()) {
      return absl::InvalidArgumentError(
          "must have single values in its list, not lists or mappings");
    }
    values.push_back(item.Scalar());
  }
  return values.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

absl::StatusOr<MatrixAxis> MatrixAxis::Parse(const std::string& key, const std::string& text) {
  static const RE2 kRange("(-?[0-9]{1,18})\\.\\.(-?[0-9]{1,18})(?::([0-9]{1,18}))?");
  MatrixAxis axis;
  axis.key_ = key;
  int64_t to = 0;
  std::string step;
  if (RE2::FullMatch(text, kRange, &axis.from_, &to, &step)) {
    if (!step.empty() && (!absl::SimpleAtoi(step, &axis.step_) || axis.step_ < 1)) {
      return absl::InvalidArgumentError(
          "has the step 0, so its range would not end; use 1 or more");
    }
    static_assert(kLargestBound > 999'999'999'999'999'999);
    if (to < axis.from_) {
      return absl::InvalidArgumentError(absl::StrCat("is a range from ", axis.from_, " to ", to,
                                                     ", which is empty; swap the bounds"));
    }
    axis.size_ = (to - axis.from_) / axis.step_ + 1;
    return axis;
  }
  const auto values = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!values.is_array()) return absl::InvalidArgumentError(kForms);
  for (const auto& value : values) {
    if (!value.is_string()) return absl::InvalidArgumentError(kForms);
    axis.values_.push_back(value.get<std::string>());
  }
  axis.size_ = static_cast<int64_t>(axis.values_.size());
  if (axis.size_ == 0) {
    return absl::InvalidArgumentError(
        "has no values, so the array would have no elements; "
        "list at least one value, or remove the key");
  }
  if (axis.size_ > kMaxListedValues) {
    return absl::InvalidArgumentError(
        absl::StrCat("has ", axis.size_, " values; at most ", kMaxListedValues, " can be listed"));
  }
  return axis;
}

std::string MatrixAxis::ValueAt(int64_t position) const {
  if (!is_range()) return values_[position];
  return absl::StrCat(from_ + position * step_);
}

std::optional<int64_t> MatrixAxis::PositionOf(const std::string& value) const {
  if (!is_range()) {
    const auto found = std::ranges::find(values_, value);
    return found == values_.end() ? std::nullopt : std::optional(found - values_.begin());
  }
  int64_t number = 0;
  if (!absl::SimpleAtoi(value, &number)) return std::nullopt;
  const bool is_member =
      number >= from_ && number <= from_ + (size_ - 1) * step_ && (number - from_) % step_ == 0;
  return is_member ? std::optional((number - from_) / step_) : std::nullopt;
}

}  // namespace trainyard
