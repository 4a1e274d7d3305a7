// Values for unset fields of a JobSpec: defaults and derived values.
#ifndef TRAINYARD_PROTO_JOBSPEC_DEFAULTS_H_
#define TRAINYARD_PROTO_JOBSPEC_DEFAULTS_H_

#include "proto/jobspec/origins.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

// Sets every unset field that has a FieldRule default, then the derived values (FillDerived of
// proto/rules/run_rules.h) with kDerivedOrigin in `origins`.
void FillDefaults(v1::JobSpec& spec, Origins& origins);

// Sets this origin for every set scalar without an origin. Call it for the values of a request,
// before FillDefaults adds others.
void FillOrigins(const v1::JobSpec& spec, const std::string& origin, Origins& origins);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_DEFAULTS_H_
