#include "proto/jobspec/matrix_rules.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/contract/limits.h"
#include "proto/jobspec/array_element.h"
#include "proto/jobspec/matrix/matrix.h"
#include "proto/jobspec/rules/field_rules.h"
#include "proto/jobspec/rules/program_rules.h"

namespace trainyard {
namespace {

using Problems = std::vector<SettingProblem>;

// More problems would mostly repeat each other.
constexpr std::size_t kMaxProblems = 8;
// A longer range is checked at both ends only, so that a submission takes little time.
constexpr int64_t kLongestCheckedRange = 100;

// Keys that must be equal for all elements, because they describe the array as a whole.
constexpr std::array kSharedKeys{
    "name",           "kind",    "extends",        "after",    "queue", "matrix",
    "max_concurrent", "halving", "checkpoint.dir", "priority", "code"};

void CheckKeys(const Matrix& matrix, Problems& problems) {
  for (const MatrixAxis& axis : matrix.axes()) {
    const std::string section = axis.key().substr(0, axis.key().find('.'));
    const bool is_shared = std::ranges::any_of(
        kSharedKeys, [&](const char* key) { return axis.key() == key || section == key; });
    if (!is_shared) continue;
    problems.push_back({absl::StrCat("matrix.", axis.key()),
                        absl::StrCat("`", axis.key(),
                                     "` cannot be in `matrix`, because all elements of an array "
                                     "share it; remove it from `matrix`")});
  }
}

void CheckShared(const v1::JobSpec& spec, const Matrix& matrix, Problems& problems) {
  if (!spec.checkpoint().dir().empty()) {
    problems.push_back(
        {"checkpoint.dir",
         "`checkpoint.dir` would be shared by all elements of the array, which would "
         "overwrite each other's checkpoints; remove it, and each element gets a "
         "directory of its own"});
  }
  const std::string longest = ElementName(spec.name(), matrix.size() - 1);
  if (longest.size() > kMaxJobNameBytes) {
    problems.push_back(
        {"name", absl::StrCat("`name` is too long for an array: the name of its last "
                              "element, ",
                              longest, ", may have at most ", kMaxJobNameBytes, " characters")});
  }
}

void CheckHalving(const v1::HalvingSpec& halving, Problems& problems) {
  if (!halving.has_metric()) {
    problems.push_back(
        {"halving.metric", "`halving.metric` is missing; set loss or validation_loss"});
  }
  if (halving.at_step().empty()) {
    problems.push_back(
        {"halving.at_step", "`halving.at_step` is missing; list steps such as [1000, 3000]"});
  }
  int64_t before = 0;
  for (const std::string& text : halving.at_step()) {
    int64_t step = 0;
    if (!absl::SimpleAtoi(text, &step)) continue;  // The pattern of the field rejects it.
    if (step <= before) {
      problems.push_back({"halving.at_step", absl::StrCat("`halving.at_step` must ascend, but ",
                                                          step, " does not exceed ", before)});
    }
    before = step;
  }
}

std::string SettingsText(const Matrix& matrix, int64_t index) {
  return absl::StrJoin(matrix.SettingsOf(index), ", ", [](std::string* out, const auto& setting) {
    absl::StrAppend(out, setting.first, "=", setting.second);
  });
}

void CheckElement(const v1::JobSpec& spec, const Origins& origins, const Matrix& matrix,
                  int64_t index, const ElementCheck& check, Problems& problems) {
  const auto element = MakeElement(spec, origins, matrix, index);
  if (!element.ok()) {
    problems.push_back({"matrix", std::string(element.status().message())});
    return;
  }
  for (const SettingProblem& problem : check(element->spec)) {
    // If every element breaks a rule, the problem is reported once and names no element.
    const bool is_known = std::ranges::any_of(problems, [&](const SettingProblem& known) {
      return known.key == problem.key && known.message.ends_with(problem.message);
    });
    if (is_known) continue;
    const std::string in_matrix = absl::StrCat("matrix.", problem.key);
    const bool is_varied = spec.matrix().contains(problem.key);
    problems.push_back({is_varied ? in_matrix : problem.key,
                        absl::StrCat("element ", index, " of the array (",
                                     SettingsText(matrix, index), "): ", problem.message)});
  }
}

void CheckElements(const v1::JobSpec& spec, const Origins& origins, const Matrix& matrix,
                   const ElementCheck& check, Problems& problems) {
  for (std::size_t axis = 0; axis < matrix.axes().size(); ++axis) {
    const MatrixAxis& values = matrix.axes()[axis];
    const bool only_ends = values.is_range() && values.size() > kLongestCheckedRange;
    const int64_t step = only_ends ? values.size() - 1 : 1;
    for (int64_t position = 0; position < values.size(); position += step) {
      if (problems.size() >= kMaxProblems) return;
      const auto index = matrix.ElementWith(axis, position);
      if (index.has_value()) CheckElement(spec, origins, matrix, *index, check, problems);
    }
  }
}

}  // namespace

Problems FindArrayProblems(const v1::JobSpec& spec, const Origins& origins,
                           const ElementCheck& check) {
  Problems problems;
  if (!spec.has_name()) problems.push_back({"name", "`name` is missing"});
  CheckFields(spec, problems);
  const absl::StatusOr<Matrix> matrix = Matrix::Of(spec);
  if (!matrix.ok()) problems.push_back({"matrix", std::string(matrix.status().message())});
  if (!problems.empty()) return problems;
  CheckKeys(*matrix, problems);
  CheckShared(spec, *matrix, problems);
  CheckAfter(spec, problems);
  if (spec.has_halving()) CheckHalving(spec.halving(), problems);
  if (problems.empty()) CheckElements(spec, origins, *matrix, check, problems);
  return problems;
}

void CheckNotArray(const v1::JobSpec& spec, Problems& problems) {
  if (spec.has_max_concurrent()) {
    problems.push_back({"max_concurrent",
                        "`max_concurrent` limits the elements of an array; add `matrix`, or remove "
                        "`max_concurrent`"});
  }
  if (spec.has_halving()) {
    problems.push_back({"halving",
                        "`halving` compares the elements of an array; add `matrix`, or "
                        "remove `halving`"});
  }
}

}  // namespace trainyard
