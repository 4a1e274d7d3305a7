// Finds the line of a rank's output that names its error.
#ifndef TRAINYARD_CONTROLLER_CORE_VERDICT_ERROR_LINE_H_
#define TRAINYARD_CONTROLLER_CORE_VERDICT_ERROR_LINE_H_

#include <string>

namespace trainyard::controller {

// Maximum length of the returned line.
inline constexpr std::size_t kMaxErrorLineBytes = 300;

// Last line in a form that programs use for errors: a Python exception, an uncaught C++ exception,
// a failed assertion, "error: ..." or "FATAL ...". Empty if there is none.
std::string ErrorLine(const std::string& log_tail);

// True if both lines name the same error: they differ only in numbers and addresses.
bool SameError(const std::string& a, const std::string& b);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_VERDICT_ERROR_LINE_H_
