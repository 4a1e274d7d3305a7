// Finds the line of a rank's output that names its error.
#ifndef TRAINYARD_CONTROLLER_CORE_VERDICT_ERROR_LINE_H_
#define TRAINYARD_CONTROLLER_CORE_VERDICT_ERROR_LINE_H_

#include <string>
#include <string_view>

namespace trainyard::controller {

// The maximum length of the result of ErrorLine.
inline constexpr std::size_t kMaxErrorLineBytes = 300;

// Returns the last line that looks like an error message of a program: a Python exception, an
// uncaught C++ exception, a failed assertion, "error: ..." or "FATAL ...". Empty if there is none.
std::string ErrorLine(const std::string& log_tail);

// Returns true if the line has the form of such a message.
bool NamesAnError(std::string_view line);

// Returns true if both lines describe the same error, that is, if they are equal except for numbers
// and addresses.
bool SameError(const std::string& a, const std::string& b);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_VERDICT_ERROR_LINE_H_
