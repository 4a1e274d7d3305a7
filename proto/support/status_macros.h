// Macros that return early on errors. Debian's absl lacks such macros.
#ifndef TRAINYARD_PROTO_SUPPORT_STATUS_MACROS_H_
#define TRAINYARD_PROTO_SUPPORT_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Returns from the enclosing function if `expr` is not OK.
#define TRAINYARD_RETURN_IF_ERROR(expr)                   \
  do {                                                    \
    if (::absl::Status status_ = (expr); !status_.ok()) { \
      return status_;                                     \
    }                                                     \
  } while (false)

#define TRAINYARD_STATUS_CONCAT_INNER(a, b) a##b
#define TRAINYARD_STATUS_CONCAT(a, b) TRAINYARD_STATUS_CONCAT_INNER(a, b)

// Evaluates `expr`, a StatusOr. If the result is an error, returns the status from the enclosing
// function. Otherwise moves the value into `lhs`.
#define TRAINYARD_ASSIGN_OR_RETURN(lhs, expr) \
  TRAINYARD_ASSIGN_OR_RETURN_INNER(TRAINYARD_STATUS_CONCAT(statusor_, __LINE__), lhs, expr)
#define TRAINYARD_ASSIGN_OR_RETURN_INNER(statusor, lhs, expr) \
  auto statusor = (expr);                                     \
  if (!statusor.ok()) return statusor.status();               \
  lhs = *std::move(statusor)

#endif  // TRAINYARD_PROTO_SUPPORT_STATUS_MACROS_H_
