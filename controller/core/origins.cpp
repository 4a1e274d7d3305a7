#include "controller/core/origins.h"

#include <algorithm>

#include "proto/support/job_spec_defaults.h"
#include "proto/support/job_spec_loader.h"

namespace trainyard::controller {

void PackDefaults(OriginList& origins, DefaultFields& defaults) {
  const int count = origins.size();
  int kept = 0;
  for (int i = 0; i < count; ++i) {
    const bool is_default = origins[i].source() == kDefaultOrigin;
    const auto number = is_default ? NumberOfSpecField(origins[i].key()) : std::nullopt;
    if (number.has_value()) {
      defaults.Add(*number);
    } else {
      origins.SwapElements(i, kept++);
    }
  }
  origins.DeleteSubrange(kept, count - kept);
  std::ranges::sort(defaults);
}

void UnpackDefaults(const DefaultFields& defaults, OriginList& origins) {
  for (const SpecFieldNumber number : defaults) {
    // A number of a newer version: its value is shown, its origin is not.
    const std::string* key = KeyOfSpecField(number);
    if (key == nullptr) continue;
    v1::Origin& origin = *origins.Add();
    origin.set_key(*key);
    origin.set_source(kDefaultOrigin);
  }
  std::stable_sort(origins.pointer_begin(), origins.pointer_end(),
                   [](const v1::Origin* a, const v1::Origin* b) { return a->key() < b->key(); });
}

void UnpackDefaults(v1::Event& event) {
  if (!event.has_job_submitted()) return;
  v1::JobSubmitted& submitted = *event.mutable_job_submitted();
  UnpackDefaults(submitted.default_fields(), *submitted.mutable_origins());
  submitted.clear_default_fields();
}

}  // namespace trainyard::controller
