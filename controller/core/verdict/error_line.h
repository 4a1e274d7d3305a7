// Finds the line of a rank's output that names its error.
#ifndef TRAINYARD_CONTROLLER_CORE_VERDICT_ERROR_LINE_H_
#define TRAINYARD_CONTROLLER_CORE_VERDICT_ERROR_LINE_H_

#include <string>

namespace trainyard::controller {

// The maximum length of the result of ErrorLine.
inline constexpr std::size_t kMaxErrorLineBytes = 300;

// Returns the last line that looks like an error message of a program: a Python exception, an
// uncaught C++ exception, a failed assertion, "error: ..." or "FATAL ...". Messages about a lost
// peer and messages of launchers, such as torchrun's table, are returned only if the program
// printed no error of its own. If the errors have rank labels, the rank that printed the first
// error is used. Empty if there is no such line.
std::string ErrorLine(const std::string& log_tail);

// Returns true if a rank's output reports a lost peer (NCCL, Gloo, c10d, torchelastic), but no
// other error. Such a rank failed because another rank failed.
bool ReportsOnlyPeerLoss(const std::string& log_tail);

// Returns the signal that ended a process below the rank, according to the rank's launcher. 0 if
// the output names no signal, or only SIGTERM or SIGABRT, which are consequences of other failures.
int SignalBelow(const std::string& log_tail);

// Returns true if both lines describe the same error, that is, if they are equal except for numbers
// and addresses.
bool SameError(const std::string& a, const std::string& b);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_VERDICT_ERROR_LINE_H_
