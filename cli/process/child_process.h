// A daemon that `trainyard dev` starts. The daemon ends together with `trainyard dev`.
#ifndef TRAINYARD_CLI_PROCESS_CHILD_PROCESS_H_
#define TRAINYARD_CLI_PROCESS_CHILD_PROCESS_H_

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace trainyard::cli {

// A child process in its own process group, so that Ctrl-C in a terminal does not reach it. Call
// Start on a thread that lives as long as the child, because the kernel sends SIGTERM to the child
// when that thread ends. The destructor neither ends nor reaps the child.
class ChildProcess {
 public:
  // Runs `program` (a path) with `arguments`, without a shell. Appends stdout and stderr to
  // `log_path` (mode 0600). `name` is used in messages. Returns an error if the log cannot be
  // opened or the program cannot be executed.
  static absl::StatusOr<ChildProcess> Start(std::string name, const std::string& program,
                                            const std::vector<std::string>& arguments,
                                            std::string log_path);

  const std::string& name() const { return name_; }
  const std::string& log_path() const { return log_path_; }
  pid_t pid() const { return pid_; }

  // Returns how the child ended ("exited with 1", "ended by signal 9"); nullopt while it is
  // running.
  // Reaps a child that has ended. Does not block.
  std::optional<std::string> Ended();

  // Sends a signal to the child. Does nothing if the child has ended.
  void Signal(int signal);

  // Waits for the child to end, for at most `limit`. Returns false if the child is still running.
  bool WaitFor(std::chrono::milliseconds limit);

 private:
  ChildProcess(std::string name, std::string log_path, pid_t pid)
      : name_(std::move(name)), log_path_(std::move(log_path)), pid_(pid) {}

  std::string name_;
  std::string log_path_;
  pid_t pid_;
  std::optional<std::string> ended_;  // Text that Ended() returns; set when the child is reaped.
};

// Returns the last `lines` lines of a file, limited to its last 8 KiB; "" if it cannot be read.
std::string LastLines(const std::string& path, int lines);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_PROCESS_CHILD_PROCESS_H_
