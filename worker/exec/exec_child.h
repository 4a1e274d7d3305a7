// The command of an exec session, and the descriptors through which it is read and written.
#ifndef TRAINYARD_WORKER_EXEC_EXEC_CHILD_H_
#define TRAINYARD_WORKER_EXEC_EXEC_CHILD_H_

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "proto/files/unique_fd.h"
#include "worker/process/rank_child.h"
#include "worker/process/rank_files.h"

namespace trainyard::worker {

struct TerminalSides {
  int rows = 0;
  int columns = 0;
};

class ExecChild {
 public:
  // Forks the command, which waits for Release. With `terminal`, the command gets a terminal of
  // this size, else pipes. Call only from a single-threaded process. Destroying the result does not
  // end a released command.
  static absl::StatusOr<ExecChild> Fork(const RankCommand& command,
                                        const std::optional<TerminalSides>& terminal);

  pid_t pid() const { return held_.pid(); }
  // As HeldRank::Release.
  std::optional<StartFailure> Release() { return held_.Release(); }

  // Non-blocking. `error` is invalid for a terminal, and `input` after CloseInput.
  int input() const { return input_.get(); }
  int output() const { return output_.get(); }
  int error() const { return error_.get(); }
  // Closes standard input. Has no effect on a terminal.
  void CloseInput();
  void Resize(const TerminalSides& sides) const;
  // Sends the signal to the command's process group.
  void Signal(int signal) const;
  // Asks all processes of the session to end.
  void Terminate() const;

 private:
  explicit ExecChild(HeldRank held) : held_(std::move(held)) {}

  HeldRank held_;
  bool has_terminal_ = false;
  UniqueFd input_;
  UniqueFd output_;
  UniqueFd error_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_EXEC_EXEC_CHILD_H_
