// Job files: YAML (or JSON) text -> JobSpec, by reflection over the proto and its FieldRules.
//
// Scalars are read by the field's type and not by YAML's guess: `lr: 3e-4` is a number, `name: no`
// a string, `steps: 1e6` an integer when exact, `30m` a duration, `20B` a token count, `64KiB`
// bytes. Unknown keys are refused with the nearest name; duplicate keys, tags, and more than
// kMaxJobFileBytes are refused. All errors of a file are returned at once, each with
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

// Key of files that describe a run in a document's words, also of models that trainyard-trainer
// cannot train. They are no job files: ResolveJobFile refuses them and says so.
inline constexpr char kDescribesKey[] = "describes";

struct ResolvedSpec {
  v1::JobSpec spec;
  Origins origins;
};

// Resolves a job file: reads it, its `extends` chain (maps merge, lists replace, later wins),
// applies `overrides` ("train.steps=200" each), fills in defaults and derived values, and checks
// every rule (CheckJobSpec). INVALID_ARGUMENT: the message holds all errors, one a line, in the
// form "job.yaml:7:3: unknown key `leraning_rate`; did you mean `lr`?".
absl::StatusOr<ResolvedSpec> ResolveJobFile(const std::string& reference,
                                            const std::vector<std::string>& overrides,
                                            const JobFileReader& reader);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_LOADER_H_
