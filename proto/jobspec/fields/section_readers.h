// Copies the settings that are written in a job file's sections into a RunConfig.
#ifndef TRAINYARD_PROTO_JOBSPEC_FIELDS_SECTION_READERS_H_
#define TRAINYARD_PROTO_JOBSPEC_FIELDS_SECTION_READERS_H_

#include "proto/contract/run_config.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

// Copies the settings of `spec` to `config`. Settings that are unset in `spec` keep their value in
// `config`. The definition is generated (proto/generator).
void ReadSections(const v1::JobSpec& spec, RunConfig& config);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_FIELDS_SECTION_READERS_H_
