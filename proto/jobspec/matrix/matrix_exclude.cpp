#include "proto/jobspec/matrix/matrix_exclude.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "proto/support/status_macros.h"

namespace trainyard {
namespace {

using Entry = std::map<std::string, std::string>;

constexpr char kExcludeForm[] =
    "must be a list of combinations to leave out, such as "
    "[{optimizer.lr: 3e-4, train.seed: 7}]";

absl::Status CheckEntryCount(std::size_t entries) {
  if (entries <= kMaxExcludeEntries) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("has ", entries, " entries; at most ", kMaxExcludeEntries, " are allowed"));
}

absl::Status InvalidExclude(const std::string& message) {
  return absl::InvalidArgumentError(absl::StrCat("`matrix.exclude` ", message));
}

absl::StatusOr<std::vector<Entry>> ParseEntries(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_array()) return InvalidExclude(kExcludeForm);
  if (const absl::Status status = CheckEntryCount(json.size()); !status.ok()) {
    return InvalidExclude(std::string(status.message()));
  }
  std::vector<Entry> entries;
  for (const auto& item : json) {
    if (!item.is_object() || item.empty()) return InvalidExclude(kExcludeForm);
    Entry& entry = entries.emplace_back();
    for (const auto& [key, value] : item.items()) {
      if (!value.is_string()) return InvalidExclude(kExcludeForm);
      entry[key] = value.get<std::string>();
    }
  }
  return entries;
}

// Lists the combinations of one entry.
class Combinations {
 public:
  Combinations(const std::vector<MatrixAxis>& axes, const std::vector<int64_t>& strides)
      : axes_(axes), strides_(strides) {}

  absl::Status Add(const Entry& entry, std::vector<int64_t>& combinations) const {
    for (const auto& [key, value] : entry) TRAINYARD_RETURN_IF_ERROR(CheckKey(key));
    std::vector<int64_t> found{0};
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      TRAINYARD_ASSIGN_OR_RETURN(const auto positions, PositionsIn(axes_[i], entry));
      const auto [begin, end] = positions;
      if (static_cast<int64_t>(found.size()) * (end - begin) > kMaxExcluded) return TooMany();
      std::vector<int64_t> longer;
      for (const int64_t prefix : found) {
        for (int64_t p = begin; p < end; ++p) longer.push_back(prefix + p * strides_[i]);
      }
      found = std::move(longer);
    }
    combinations.insert(combinations.end(), found.begin(), found.end());
    return absl::OkStatus();
  }

  static absl::Status TooMany() {
    return InvalidExclude(absl::StrCat("leaves out more than ", kMaxExcluded,
                                       " combinations, which is the maximum; list fewer values in "
                                       "`matrix`, or divide the array"));
  }

 private:
  absl::Status CheckKey(const std::string& key) const {
    if (std::ranges::find(axes_, key, &MatrixAxis::key) != axes_.end()) return absl::OkStatus();
    return InvalidExclude(absl::StrCat("names `", key, "`, which is not a key of `matrix`"));
  }

  // Returns the first position and the end of the values that the entry leaves out.
  absl::StatusOr<std::pair<int64_t, int64_t>> PositionsIn(const MatrixAxis& axis,
                                                          const Entry& entry) const {
    const auto value = entry.find(axis.key());
    if (value == entry.end()) return std::pair<int64_t, int64_t>(0, axis.size());
    const auto position = axis.PositionOf(value->second);
    if (position.has_value()) return std::pair(*position, *position + 1);
    return InvalidExclude(absl::StrCat("names the value ", value->second, " of `", axis.key(),
                                       "`, which `matrix` does not list; write the value as it is "
                                       "listed"));
  }

  const std::vector<MatrixAxis>& axes_;
  const std::vector<int64_t>& strides_;
};

}  // namespace

absl::StatusOr<std::string> ExcludeText(const YAML::Node& node) {
  if (node.IsScalar()) return node.Scalar();
  if (!node.IsSequence()) return absl::InvalidArgumentError(kExcludeForm);
  TRAINYARD_RETURN_IF_ERROR(CheckEntryCount(node.size()));
  nlohmann::json entries = nlohmann::json::array();
  for (const YAML::Node& item : node) {
    if (!item.IsMap() || item.size() == 0) return absl::InvalidArgumentError(kExcludeForm);
    nlohmann::json& entry = entries.emplace_back(nlohmann::json::object());
    for (const auto& pair : item) {
      const bool is_setting = pair.first.IsScalar() && pair.second.IsScalar();
      if (!is_setting) return absl::InvalidArgumentError(kExcludeForm);
      entry[pair.first.Scalar()] = pair.second.Scalar();
    }
  }
  return entries.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

absl::StatusOr<std::vector<int64_t>> ExcludedCombinations(const std::string& text,
                                                          const std::vector<MatrixAxis>& axes,
                                                          const std::vector<int64_t>& strides) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<Entry> entries, ParseEntries(text));
  const Combinations of_entries(axes, strides);
  std::vector<int64_t> combinations;
  for (const Entry& entry : entries) {
    TRAINYARD_RETURN_IF_ERROR(of_entries.Add(entry, combinations));
    if (std::ssize(combinations) > kMaxExcluded) return Combinations::TooMany();
  }
  std::ranges::sort(combinations);
  const auto repeated = std::ranges::unique(combinations);
  combinations.erase(repeated.begin(), repeated.end());
  return combinations;
}

}  // namespace trainyard
