// The specs of the elements of an array. They are a function of the array's spec and of the
// element's index alone.
#ifndef TRAINYARD_PROTO_JOBSPEC_ARRAY_ELEMENT_H_
#define TRAINYARD_PROTO_JOBSPEC_ARRAY_ELEMENT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "proto/jobspec/changed_spec.h"
#include "proto/jobspec/fields/origins.h"
#include "proto/jobspec/matrix/matrix.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

// Returns the spec of the job of an element: the settings of the array with those of the matrix,
// and with defaults and derived values computed anew. The spec has a name, but no `matrix`,
// `after`, `max_concurrent` or `halving`. INVALID_ARGUMENT: a key is unknown, or a value cannot be
// read.
absl::StatusOr<ChangedSpec> MakeElement(const v1::JobSpec& array, const Origins& origins,
                                        const Matrix& matrix, int64_t index);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_ARRAY_ELEMENT_H_
