#include "proto/jobspec/array_element.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "proto/contract/environment.h"
#include "proto/jobspec/decoder.h"
#include "proto/jobspec/defaults.h"
#include "proto/jobspec/scalar_text.h"

namespace trainyard {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// The origin of the values that the matrix sets.
constexpr char kMatrixOrigin[] = "matrix";

// Clears the setting, so that it is derived again from the other settings.
void ClearSetting(const std::string& key, v1::JobSpec& spec) {
  Message* holder = &spec;
  const std::vector<std::string> parts = absl::StrSplit(key, '.');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const FieldDescriptor* field = holder->GetDescriptor()->FindFieldByName(parts[i]);
    if (field == nullptr) return;
    if (i + 1 == parts.size()) return holder->GetReflection()->ClearField(holder, field);
    if (!IsSection(*field)) return;
    holder = holder->GetReflection()->MutableMessage(holder, field);
  }
}

bool IsOfArray(const std::string& key) {
  return key == "after" || key == "max_concurrent" || absl::StartsWith(key, "matrix") ||
         absl::StartsWith(key, "halving");
}

// Returns the array's settings without those that only arrays have, and without derived values.
DecodeContext WrittenSettings(const v1::JobSpec& array, const Origins& origins) {
  DecodeContext context;
  context.spec = array;
  context.spec.clear_matrix();
  context.spec.clear_max_concurrent();
  context.spec.clear_halving();
  context.spec.clear_after();
  for (const auto& [key, origin] : origins) {
    if (IsOfArray(key)) continue;
    if (origin == kDerivedOrigin) {
      ClearSetting(key, context.spec);
    } else {
      context.origins[key] = origin;
    }
  }
  return context;
}

}  // namespace

absl::StatusOr<ArrayElementSpec> MakeElement(const v1::JobSpec& array, const Origins& origins,
                                             const Matrix& matrix, int64_t index) {
  DecodeContext context = WrittenSettings(array, origins);
  for (const auto& [key, value] : matrix.SettingsOf(index)) {
    DecodeSetting({kMatrixOrigin, key, value}, /*directory=*/"", context);
  }
  if (!context.errors.empty()) {
    return absl::InvalidArgumentError(absl::StrJoin(context.errors, "\n"));
  }
  context.spec.set_name(ElementName(array.name(), index));
  auto& env = *context.spec.mutable_env();
  if (!env.contains(environment::kArrayIndex)) env[environment::kArrayIndex] = absl::StrCat(index);
  FillDefaults(context.spec, context.origins);
  return ArrayElementSpec{std::move(context.spec), std::move(context.origins)};
}

}  // namespace trainyard
