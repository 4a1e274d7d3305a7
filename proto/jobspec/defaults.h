// Values of a JobSpec that are not written: defaults and derived values.
#ifndef TRAINYARD_PROTO_JOBSPEC_DEFAULTS_H_
#define TRAINYARD_PROTO_JOBSPEC_DEFAULTS_H_

#include "proto/jobspec/origins.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

// Sets every field that has a FieldRule default and is not written, then what follows from other
// values (FillDerived of proto/contract/run_rules.h) with kDerivedOrigin in `origins`.
void FillDefaults(v1::JobSpec& spec, Origins& origins);

// Gives every scalar that is set and has no origin this one: the values that a request wrote,
// before FillDefaults adds those that it did not.
void FillOrigins(const v1::JobSpec& spec, const std::string& origin, Origins& origins);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_DEFAULTS_H_
