// Scalars of a job file, parsed by the field's type and unit.
#ifndef TRAINYARD_PROTO_JOBSPEC_SCALAR_TEXT_H_
#define TRAINYARD_PROTO_JOBSPEC_SCALAR_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/message.h"
#include "trainyard/v1/field_rule.pb.h"

namespace trainyard {

// "300", "1e6", "1_000", "20B" (tokens, steps, samples), "64KiB" (bytes): exact integers only.
// INVALID_ARGUMENT names the expected form.
absl::StatusOr<__int128> ParseInteger(const std::string& text, v1::Unit unit);

// "3e-4", "0.1", "1". No NaN and no infinity.
absl::StatusOr<double> ParseNumber(const std::string& text);

// "30m", "1h30m", "250ms", "2d". A bare number has no unit and is rejected, except 0.
absl::StatusOr<int64_t> ParseDurationMs(const std::string& text);

// Parses `text` for the singular scalar, enum or Duration `field` and sets it.
absl::Status SetScalarField(const std::string& text, const google::protobuf::FieldDescriptor& field,
                            google::protobuf::Message& message);

// The rule of a field; empty if it has none.
const v1::FieldRule& RuleOf(const google::protobuf::FieldDescriptor& field);

// True for google.protobuf.Duration.
bool IsDuration(const google::protobuf::FieldDescriptor& field);

// True for a message with its own fields, such as `train`.
bool IsSection(const google::protobuf::FieldDescriptor& field);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_SCALAR_TEXT_H_
