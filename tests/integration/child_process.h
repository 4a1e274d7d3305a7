// Runs a program under test as a real process.
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

// Polls `condition` until it is true. Returns false at the deadline. Polling is necessary because
// real processes send the test no notifications.
bool Eventually(const std::function<bool()>& condition, Seconds deadline = Seconds(60));

// Replaces the forked child by the program arguments[0]. Closes all descriptors except 0, 1 and 2.
[[noreturn]] void ExecProgram(const std::vector<std::string>& arguments);

class ChildProcess {
 public:
  // Starts a program and appends its output to `log_path`. The child ends with the thread that
  // calls this constructor: the kernel sends the signal of PR_SET_PDEATHSIG at its end.
  ChildProcess(const std::vector<std::string>& arguments, const std::string& log_path);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  // Kills the process if it is still running.
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  void Signal(int signal) const;
  bool Running();
  // Waits for the end of the program. Returns the exit code, or 128 + the signal's number; nullopt
  // if the program is still running at the deadline.
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

// Runs a program and waits until it ends. exit_code is -1 if the program is still running at the
// deadline.
CommandResult RunCommand(const std::vector<std::string>& arguments, Seconds deadline = Seconds(60));

}  // namespace trainyard::test

#endif  // TRAINYARD_TESTS_INTEGRATION_CHILD_PROCESS_H_
