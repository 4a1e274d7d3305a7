// Changes settings of a resolved job. Values that were derived from other settings are derived
// anew.
#ifndef TRAINYARD_PROTO_JOBSPEC_CHANGED_SPEC_H_
#define TRAINYARD_PROTO_JOBSPEC_CHANGED_SPEC_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/jobspec/decoder.h"
#include "proto/jobspec/fields/origins.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

struct ChangedSpec {
  v1::JobSpec spec;
  Origins origins;
};

// Applies the settings to the spec, and fills in defaults and derived values. Relative paths are
// resolved against `directory`, or rejected if `directory` is empty. INVALID_ARGUMENT: a key is
// unknown, or a value cannot be read; the message has one problem per line. Does not check the
// rules of the result.
absl::StatusOr<ChangedSpec> ChangeSpec(v1::JobSpec spec, const Origins& origins,
                                       const std::vector<WrittenSetting>& settings,
                                       const std::string& directory);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_CHANGED_SPEC_H_
