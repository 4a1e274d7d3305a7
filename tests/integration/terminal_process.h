// Runs a program on a terminal, as a user's shell does.
#ifndef TRAINYARD_TESTS_INTEGRATION_TERMINAL_PROCESS_H_
#define TRAINYARD_TESTS_INTEGRATION_TERMINAL_PROCESS_H_

#include <sys/types.h>
#include <termios.h>

#include <optional>
#include <string>
#include <vector>

#include "proto/files/unique_fd.h"
#include "tests/integration/child_process.h"

namespace trainyard::test {

class TerminalProcess {
 public:
  // The terminal has 30 rows and 100 columns.
  explicit TerminalProcess(const std::vector<std::string>& arguments);
  TerminalProcess(const TerminalProcess&) = delete;
  TerminalProcess& operator=(const TerminalProcess&) = delete;
  // Kills the process if it is still running.
  ~TerminalProcess();

  void Type(const std::string& keys) const;
  // Reads until the output since the preceding call contains `text`. Returns false at the deadline.
  bool WaitForOutput(const std::string& text, Seconds deadline = Seconds(20));
  // The complete output.
  const std::string& output() const { return output_; }
  void Resize(int rows, int columns) const;
  void Signal(int signal) const;
  // True if the terminal echoes keys and reads lines, as before the program was started.
  bool IsCooked() const;
  // As ChildProcess::Wait.
  std::optional<int> Wait(Seconds deadline = Seconds(20));

 private:
  void Read();

  pid_t pid_ = -1;
  UniqueFd terminal_;
  // Keeps the terminal, and its modes, after the end of the program.
  UniqueFd other_end_;
  std::string output_;
  std::size_t searched_ = 0;
  std::optional<int> status_;
};

}  // namespace trainyard::test

#endif  // TRAINYARD_TESTS_INTEGRATION_TERMINAL_PROCESS_H_
