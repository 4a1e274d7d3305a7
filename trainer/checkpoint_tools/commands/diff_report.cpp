#include "trainer/checkpoint_tools/commands/diff_report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "trainer/checkpoint/box.h"
#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint_tools/commands/readable_text.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;
using Rows = std::vector<std::vector<std::string>>;

constexpr char kEqual[] = "equal";
constexpr char kNothing[] = "-";

// Returns the texts of A's and B's tensor: "F32" if the texts are equal, else "F32 / BF16".
std::string Both(const TensorDifference& tensor, std::string (*text)(const LogicalTensor&)) {
  if (!tensor.a) return text(*tensor.b);
  if (!tensor.b) return text(*tensor.a);
  const std::string a = text(*tensor.a), b = text(*tensor.b);
  return a == b ? a : a + " / " + b;
}

std::vector<std::string> RowOf(const TensorDifference& tensor, double tolerance) {
  std::vector<std::string> row = {
      tensor.name, Both(tensor, [](const LogicalTensor& t) { return DtypeName(t.dtype); }),
      Both(tensor, [](const LogicalTensor& t) { return ToText(t.shape); }),
      ResultOf(tensor, tolerance)};
  std::replace(row.back().begin(), row.back().end(), '_', ' ');
  if (!tensor.values) {
    row.insert(row.end(), 4, kNothing);
    return row;
  }
  const ValueDifference& values = *tensor.values;
  row.push_back(std::to_string(values.different) + " of " + std::to_string(values.elements));
  row.push_back(ValueText(values.max_abs));
  row.push_back(ValueText(values.RelativeL2()));
  row.push_back(std::to_string(values.nan_a) + " / " + std::to_string(values.nan_b));
  return row;
}

std::string SettingsText(const CheckpointDiff& diff) {
  if (diff.settings.empty()) return "";
  Rows rows = {{"SETTING", "A", "B"}};
  const auto text = [](const json& value) { return value.is_null() ? kNothing : value.dump(); };
  for (const SettingDifference& setting : diff.settings) {
    rows.push_back({setting.key, text(setting.a), text(setting.b)});
  }
  return TableText(rows) + "\n";
}

std::string TensorsText(const CheckpointDiff& diff, double tolerance, bool all_tensors) {
  Rows rows = {
      {"TENSOR", "DTYPE", "SHAPE", "RESULT", "DIFFERENT", "MAX ABS", "REL L2", "NAN A / B"}};
  for (const TensorDifference& tensor : diff.tensors) {
    const bool is_shown = all_tensors || ResultOf(tensor, tolerance) != kEqual;
    if (is_shown) rows.push_back(RowOf(tensor, tolerance));
  }
  return rows.size() == 1 ? "" : TableText(rows) + "\n";
}

// Returns the summary line. Examples: "same: 27 tensors equal bit for bit"; "differ: 2 settings, 25
// tensors equal bit for bit, 1 with other values, 1 only in A".
std::string SummaryText(const CheckpointDiff& diff, double tolerance) {
  std::map<std::string, int64_t> counts;
  for (const TensorDifference& tensor : diff.tensors) ++counts[ResultOf(tensor, tolerance)];
  std::string text = diff.IsWithin(tolerance) ? "same: " : "differ: ";
  if (!diff.settings.empty()) {
    text += CountText(static_cast<int64_t>(diff.settings.size()), "setting") + ", ";
  }
  text += CountText(counts[kEqual], "tensor") + " equal bit for bit";
  constexpr std::pair<const char*, const char*> kOthers[] = {
      {"within_tolerance", "within the tolerance"},
      {"differs", "with other values"},
      {"dtype", "of another dtype"},
      {"shape", "of another shape"},
      {"only_in_a", "only in A"},
      {"only_in_b", "only in B"}};
  for (const auto& [result, words] : kOthers) {
    if (counts[result] > 0) text += ", " + std::to_string(counts[result]) + " " + words;
  }
  return text + "\n";
}

json FormJson(const std::optional<LogicalTensor>& tensor) {
  if (!tensor) return nullptr;
  return {{"dtype", DtypeName(tensor->dtype)}, {"shape", tensor->shape}};
}

json ValuesJson(const std::optional<ValueDifference>& values) {
  if (!values) return nullptr;
  const auto finite = [](double value) { return std::isfinite(value) ? json(value) : json(); };
  return {{"elements", values->elements},
          {"different", values->different},
          {"max_abs", finite(values->max_abs)},
          {"relative_l2", finite(values->RelativeL2())},
          {"nan_a", values->nan_a},
          {"nan_b", values->nan_b}};
}

}  // namespace

std::string ResultOf(const TensorDifference& tensor, double tolerance) {
  if (!tensor.b) return "only_in_a";
  if (!tensor.a) return "only_in_b";
  if (tensor.a->dtype != tensor.b->dtype) return "dtype";
  if (tensor.a->shape != tensor.b->shape) return "shape";
  if (tensor.IsWithin(0)) return kEqual;
  return tensor.IsWithin(tolerance) ? "within_tolerance" : "differs";
}

std::string DiffText(const CheckpointDiff& diff, const DiffOptions& options, bool all_tensors) {
  return "A  " + options.a + "\nB  " + options.b + "\n\n" + SettingsText(diff) +
         TensorsText(diff, options.tolerance, all_tensors) + SummaryText(diff, options.tolerance);
}

json DiffJson(const CheckpointDiff& diff, const DiffOptions& options) {
  json settings = json::array(), tensors = json::array();
  for (const SettingDifference& setting : diff.settings) {
    settings.push_back({{"key", setting.key}, {"a", setting.a}, {"b", setting.b}});
  }
  for (const TensorDifference& tensor : diff.tensors) {
    tensors.push_back({{"name", tensor.name},
                       {"result", ResultOf(tensor, options.tolerance)},
                       {"a", FormJson(tensor.a)},
                       {"b", FormJson(tensor.b)},
                       {"values", ValuesJson(tensor.values)}});
  }
  return {{"a", options.a},
          {"b", options.b},
          {"tolerance", options.tolerance},
          {"same", diff.IsWithin(options.tolerance)},
          {"settings", std::move(settings)},
          {"tensors", std::move(tensors)}};
}

}  // namespace trainyard::trainer
