// A daemon that lives no longer than this process.
#ifndef TRAINYARD_CLI_DEV_CHILD_PROCESS_H_
#define TRAINYARD_CLI_DEV_CHILD_PROCESS_H_

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace trainyard::cli {

// Start from the thread that lives longest: the kernel sends the child SIGTERM when that thread
// ends. The child has a process group of its own, so that a terminal's Ctrl-C does not reach it.
class ChildProcess {
 public:
  // Runs `program` (a path) with `arguments`, without a shell; output is appended to `log_path`
  // (mode 0600). Errors: the program or its log cannot be opened.
  static absl::StatusOr<ChildProcess> Start(std::string name, const std::string& program,
                                            const std::vector<std::string>& arguments,
                                            std::string log_path);

  const std::string& name() const { return name_; }
  const std::string& log_path() const { return log_path_; }
  pid_t pid() const { return pid_; }

  // The end as text ("exited with 1", "ended by signal 9"), or nullopt while the process runs.
  std::optional<std::string> Ended();

  // No effect once it has ended.
  void Signal(int signal);

  // True when it has ended before the time is up.
  bool WaitFor(std::chrono::milliseconds limit);

 private:
  ChildProcess(std::string name, std::string log_path, pid_t pid)
      : name_(std::move(name)), log_path_(std::move(log_path)), pid_(pid) {}

  std::string name_;
  std::string log_path_;
  pid_t pid_;
  std::optional<std::string> ended_;
};

// The last lines of a file, at most 8 KiB of it; "" when it cannot be read.
std::string LastLines(const std::string& path, int lines);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_DEV_CHILD_PROCESS_H_
