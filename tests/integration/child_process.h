// A program under test as a real process.
#ifndef TRAINYARD_TESTS_INTEGRATION_CHILD_PROCESS_H_
#define TRAINYARD_TESTS_INTEGRATION_CHILD_PROCESS_H_

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/fakes/temporary_directory.h"

namespace trainyard::test {

using Seconds = std::chrono::duration<double>;

// Calls `condition` until it holds; false when the deadline passes first. Real processes give no
// other way to be waited for from outside.
bool Eventually(const std::function<bool()>& condition, Seconds deadline = Seconds(60));

class ChildProcess {
 public:
  // Starts a program with output into `log_path` (appended). Ends the test process's children with
  // it.
  ChildProcess(const std::vector<std::string>& arguments, const std::string& log_path);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  // Kills what still runs.
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  void Signal(int signal) const;
  bool Running();
  // Exit code, or 128 + signal; nothing when it still runs after the deadline.
  std::optional<int> Wait(Seconds deadline = Seconds(30));

 private:
  pid_t pid_ = -1;
  std::optional<int> status_;
};

struct CommandResult {
  int exit_code = -1;
  std::string output;
  std::string error;
};

// Runs a program to its end. exit_code -1 when it did not end within the deadline.
CommandResult RunCommand(const std::vector<std::string>& arguments, Seconds deadline = Seconds(60));

}  // namespace trainyard::test

#endif  // TRAINYARD_TESTS_INTEGRATION_CHILD_PROCESS_H_
