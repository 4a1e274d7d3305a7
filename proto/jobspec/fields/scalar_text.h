// Parses scalars of a job file according to the type and the unit of the field.
#ifndef TRAINYARD_PROTO_JOBSPEC_FIELDS_SCALAR_TEXT_H_
#define TRAINYARD_PROTO_JOBSPEC_FIELDS_SCALAR_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/message.h"
#include "trainyard/v1/field_rule.pb.h"

namespace trainyard {

// Parses "300", "1e6", "1_000", "20B" (tokens, steps, samples) or "64KiB" (bytes). Rejects values
// that are not integers. INVALID_ARGUMENT: the message names the expected form.
absl::StatusOr<__int128> ParseInteger(const std::string& text, v1::Unit unit);

// Parses "3e-4", "0.1" or "1". Rejects NaN and infinity.
absl::StatusOr<double> ParseNumber(const std::string& text);

// Parses "30m", "1h30m", "250ms" or "2d". Rejects a number without a unit, except 0.
absl::StatusOr<int64_t> ParseDurationMs(const std::string& text);

// Parses `text` according to `field` and sets the field. `field` must be a singular scalar, enum or
// Duration.
absl::Status SetScalarField(const std::string& text, const google::protobuf::FieldDescriptor& field,
                            google::protobuf::Message& message);

// Returns the rule of `field`; an empty rule if it has none.
const v1::FieldRule& RuleOf(const google::protobuf::FieldDescriptor& field);

// True for google.protobuf.Duration.
bool IsDuration(const google::protobuf::FieldDescriptor& field);

// True if the field is a message with fields of its own, such as `train`.
bool IsSection(const google::protobuf::FieldDescriptor& field);

// The key that a single value of the section sets: `log_parser: nanogpt` means
// `log_parser: {kind: nanogpt}`. Null for other fields and sections.
const google::protobuf::FieldDescriptor* ScalarKeyOf(
    const google::protobuf::FieldDescriptor& field);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_FIELDS_SCALAR_TEXT_H_
