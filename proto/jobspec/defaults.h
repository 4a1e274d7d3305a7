// Sets unset fields of a JobSpec to their defaults or to values derived from other fields.
#ifndef TRAINYARD_PROTO_JOBSPEC_DEFAULTS_H_
#define TRAINYARD_PROTO_JOBSPEC_DEFAULTS_H_

#include "proto/jobspec/fields/origins.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

// Sets every unset field whose FieldRule has a default. Then sets the derived values (FillDerived
// in proto/rules/run_rules.h) and records kDerivedOrigin as their origin.
void FillDefaults(v1::JobSpec& spec, Origins& origins);

// Records `origin` for every scalar that is set and has no origin. Call this function before
// FillDefaults, so that only the values of the request get this origin.
void FillOrigins(const v1::JobSpec& spec, const std::string& origin, Origins& origins);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_DEFAULTS_H_
