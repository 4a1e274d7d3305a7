#include "proto/jobspec/array_element.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/contract/environment.h"

namespace trainyard {
namespace {

// The origin of the values that the matrix sets.
constexpr char kMatrixOrigin[] = "matrix";

// Returns true for the keys of settings that only the array has.
bool IsOfArray(const std::string& key) {
  return key == "after" || key == "max_concurrent" || absl::StartsWith(key, "matrix") ||
         absl::StartsWith(key, "halving");
}

v1::JobSpec SharedSettings(v1::JobSpec spec) {
  spec.clear_matrix();
  spec.clear_max_concurrent();
  spec.clear_halving();
  spec.clear_after();
  return spec;
}

}  // namespace

absl::StatusOr<ChangedSpec> MakeElement(const v1::JobSpec& array, const Origins& origins,
                                        const Matrix& matrix, int64_t index) {
  v1::JobSpec spec = SharedSettings(array);
  spec.set_name(ElementName(array.name(), index));
  (*spec.mutable_env())[environment::kArrayIndex] = absl::StrCat(index);
  Origins shared = origins;
  std::erase_if(shared, [](const auto& origin) { return IsOfArray(origin.first); });
  std::vector<WrittenSetting> settings;
  for (auto& [key, value] : matrix.SettingsOf(index)) {
    settings.push_back({kMatrixOrigin, std::move(key), std::move(value)});
  }
  return ChangeSpec(std::move(spec), shared, settings, /*directory=*/"");
}

}  // namespace trainyard
