#include "proto/jobspec/changed_spec.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "proto/jobspec/defaults.h"
#include "proto/jobspec/fields/scalar_text.h"

namespace trainyard {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

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

}  // namespace

absl::StatusOr<ChangedSpec> ChangeSpec(v1::JobSpec spec, const Origins& origins,
                                       const std::vector<WrittenSetting>& settings,
                                       const std::string& directory) {
  DecodeContext context;
  context.spec = std::move(spec);
  for (const auto& [key, origin] : origins) {
    if (origin == kDerivedOrigin) {
      ClearSetting(key, context.spec);
    } else {
      context.origins[key] = origin;
    }
  }
  for (const WrittenSetting& setting : settings) DecodeSetting(setting, directory, context);
  if (!context.errors.empty()) {
    return absl::InvalidArgumentError(absl::StrJoin(context.errors, "\n"));
  }
  FillDefaults(context.spec, context.origins);
  return ChangedSpec{std::move(context.spec), std::move(context.origins)};
}

}  // namespace trainyard
