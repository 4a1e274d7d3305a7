// Defaults of a JobSpec, and the numbers by which its fields are stored.
#ifndef TRAINYARD_PROTO_SUPPORT_JOB_SPEC_DEFAULTS_H_
#define TRAINYARD_PROTO_SUPPORT_JOB_SPEC_DEFAULTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

// The field numbers of a scalar from the outside in, three decimal digits each: stop_grace (18) is
// 18, train.seq_length (8, then 1) is 8001. Stored in the event log: field numbers never change.
using SpecFieldNumber = uint32_t;

// Sets every field that has a FieldRule default and is not written. Returns which, ascending.
std::vector<SpecFieldNumber> FillDefaultFields(v1::JobSpec& spec);

// The dotted key of a scalar; nullptr when no field has this number. Lives for ever.
const std::string* KeyOfSpecField(SpecFieldNumber number);

// The number of the scalar with this key.
std::optional<SpecFieldNumber> NumberOfSpecField(const std::string& key);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_JOB_SPEC_DEFAULTS_H_
