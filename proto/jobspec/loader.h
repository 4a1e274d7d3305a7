// Job files: YAML (or JSON) text -> JobSpec, by reflection over the proto and its FieldRules.
//
// Scalars are parsed by the field's type, not by YAML's guess: `lr: 3e-4` is a number, `name: no` a
// string, `steps: 1e6` an integer if exact, `30m` a duration, `20B` a token count, `64KiB` bytes.
// Unknown keys are rejected with the nearest name; duplicate keys, tags, and files larger than
// kMaxJobFileBytes are rejected. All errors of a file are returned together, each with
// file:line:column.
#ifndef TRAINYARD_PROTO_JOBSPEC_LOADER_H_
#define TRAINYARD_PROTO_JOBSPEC_LOADER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/jobspec/origins.h"
#include "proto/jobspec/reader.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

struct ResolvedSpec {
  v1::JobSpec spec;
  Origins origins;
};

// Resolves a job file: reads it and its `extends` chain (maps merge, lists replace, later wins),
// applies `overrides` ("train.steps=200" each), fills in defaults and derived values, and checks
// every rule (CheckJobSpec). INVALID_ARGUMENT: the message contains all errors, one per line, such
// as "job.yaml:7:3: unknown key `leraning_rate`; did you mean `lr`?".
absl::StatusOr<ResolvedSpec> ResolveJobFile(const std::string& reference,
                                            const std::vector<std::string>& overrides,
                                            const JobFileReader& reader);

// A job file as it was read, for reviews of files that `submit` rejects.
struct JobFileReading {
  ResolvedSpec resolved;
  std::vector<std::string> unreadable;    // Errors of the text; `resolved` lacks these settings.
  std::vector<std::string> broken_rules;  // Rules that the settings break.
};

// Like ResolveJobFile, but an error only if a file of the `extends` chain cannot be opened.
absl::StatusOr<JobFileReading> ReadJobFile(const std::string& reference,
                                           const std::vector<std::string>& overrides,
                                           const JobFileReader& reader);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_LOADER_H_
