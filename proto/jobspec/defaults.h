// Sets unset fields of a JobSpec to their defaults or to values derived from other fields.
#ifndef TRAINYARD_PROTO_JOBSPEC_DEFAULTS_H_
#define TRAINYARD_PROTO_JOBSPEC_DEFAULTS_H_

#include "proto/jobspec/origins.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

// Sets every unset field whose FieldRule has a default. Then sets the derived values (FillDerived
// in proto/rules/run_rules.h); their origin in `origins` is kDerivedOrigin.
void FillDefaults(v1::JobSpec& spec, Origins& origins);

// Records this origin for every scalar that is set and has no origin. Call it for the values of a
// request, before FillDefaults adds other values.
void FillOrigins(const v1::JobSpec& spec, const std::string& origin, Origins& origins);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_DEFAULTS_H_
