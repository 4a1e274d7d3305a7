// Converts job files (YAML or JSON texts) to a JobSpec, by reflection over the proto and its
// FieldRules.
//
// The type of the field determines how a scalar is parsed; YAML's rules do not apply. `lr: 3e-4` is
// a number, `name: no` is a string, `steps: 1e6` is an integer if it is exact, `30m` is a duration,
// `20B` is a token count, and `64KiB` is a number of bytes. Unknown keys, duplicate keys, tags, and
// files larger than kMaxJobFileBytes are rejected. The error for an unknown key suggests the
// nearest known name. All errors of a file are returned together, each with file:line:column.
#ifndef TRAINYARD_PROTO_JOBSPEC_LOADER_H_
#define TRAINYARD_PROTO_JOBSPEC_LOADER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/jobspec/fields/origins.h"
#include "proto/jobspec/fields/reader.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

struct ResolvedSpec {
  v1::JobSpec spec;
  Origins origins;
};

// Resolves a job file:
// - reads the file and its `extends` chain (maps are merged, lists are replaced, and later files
//   take precedence);
// - applies `overrides`, such as "train.steps=200";
// - fills in defaults and derived values;
// - checks every rule (CheckJobSpec).
//
// INVALID_ARGUMENT: the message contains all errors, one per line, such as "job.yaml:7:3: unknown
// key `leraning_rate`; did you mean `lr`?".
absl::StatusOr<ResolvedSpec> ResolveJobFile(const std::string& reference,
                                            const std::vector<std::string>& overrides,
                                            const JobFileReader& reader);

// The result of reading a job file that may contain errors. Used to review files that `submit`
// would reject.
struct JobFileReading {
  ResolvedSpec resolved;
  std::vector<std::string> unreadable;    // Errors in the text. `resolved` lacks these settings.
  std::vector<std::string> broken_rules;  // The rules that the settings violate.
};

// Like ResolveJobFile, but returns an error only if a file of the `extends` chain cannot be opened.
// Returns all other errors in the JobFileReading.
absl::StatusOr<JobFileReading> ReadJobFile(const std::string& reference,
                                           const std::vector<std::string>& overrides,
                                           const JobFileReader& reader);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_LOADER_H_
