// Classifies lines of output by what they reveal about the cause of a failure.
#ifndef TRAINYARD_CONTROLLER_CORE_VERDICT_ERROR_KIND_H_
#define TRAINYARD_CONTROLLER_CORE_VERDICT_ERROR_KIND_H_

#include <string_view>

namespace trainyard::controller {

// Ordered by how much a line reveals.
enum class ErrorKind {
  kNone,
  // A launcher reports that a process below it failed, or the C++ runtime reports an exception. The
  // error itself is on another line.
  kFrame,
  // A communication library lost another rank.
  kPeerLoss,
  // An error of the program itself.
  kOwn,
};

ErrorKind KindOfLine(std::string_view line);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_VERDICT_ERROR_KIND_H_
