// The line of a rank's output that names its error.
#ifndef TRAINYARD_CONTROLLER_CORE_VERDICT_ERROR_LINE_H_
#define TRAINYARD_CONTROLLER_CORE_VERDICT_ERROR_LINE_H_

#include <string>

namespace trainyard::controller {

// Longest line that is kept.
inline constexpr std::size_t kMaxErrorLineBytes = 300;

// The last line of the form in which programs name an error: a Python exception, a C++ exception
// that nobody caught, a failed assertion, "error: ..." or "FATAL ...". Empty when there is none.
std::string ErrorLine(const std::string& log_tail);

// True when both lines name the same error: they differ in numbers and addresses at most.
bool SameError(const std::string& a, const std::string& b);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_VERDICT_ERROR_LINE_H_
