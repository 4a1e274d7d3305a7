// Scalars of a job file, read by the field's type and unit.
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
// INVALID_ARGUMENT says what is expected.
absl::StatusOr<__int128> ParseInteger(const std::string& text, v1::Unit unit);

// "3e-4", "0.1", "1". No NaN and no infinity.
absl::StatusOr<double> ParseNumber(const std::string& text);

// "30m", "1h30m", "250ms", "2d"; a bare number has no unit and is refused, but for 0.
absl::StatusOr<int64_t> ParseDurationMs(const std::string& text);

// Reads `text` as the singular scalar, enum or Duration `field` and sets it.
absl::Status SetScalarField(const std::string& text, const google::protobuf::FieldDescriptor& field,
                            google::protobuf::Message& message);

// The rule of a field; an empty one when it has none.
const v1::FieldRule& RuleOf(const google::protobuf::FieldDescriptor& field);

// True for google.protobuf.Duration.
bool IsDuration(const google::protobuf::FieldDescriptor& field);

// True for a message with fields of its own, such as `train`.
bool IsSection(const google::protobuf::FieldDescriptor& field);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_SCALAR_TEXT_H_
