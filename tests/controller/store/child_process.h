// Runs a part of a test in a child process that the test may kill at any time.
#ifndef TRAINYARD_TESTS_CONTROLLER_STORE_CHILD_PROCESS_H_
#define TRAINYARD_TESTS_CONTROLLER_STORE_CHILD_PROCESS_H_

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <functional>

namespace trainyard::controller {

// A child that reports numbers through a pipe. The test must be single-threaded when it forks.
class ChildProcess {
 public:
  // `body` receives the descriptor to report to. The child ends when `body` returns.
  explicit ChildProcess(const std::function<void(int report_fd)>& body) {
    int fds[2] = {-1, -1};
    if (pipe2(fds, O_CLOEXEC) != 0) _exit(1);
    pid_ = fork();
    if (pid_ == 0) {
      close(fds[0]);
      body(fds[1]);
      _exit(0);
    }
    close(fds[1]);
    report_fd_ = fds[0];
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess() {
    Kill();
    close(report_fd_);
  }

  static void Report(int report_fd, int64_t number) {
    if (write(report_fd, &number, sizeof(number)) != sizeof(number)) _exit(1);
  }

  // Reads the next number that the child reported. Returns false if the child has ended and no
  // number is left.
  bool Read(int64_t& number) { return read(report_fd_, &number, sizeof(number)) == sizeof(number); }

  // Ends the child with SIGKILL. Earlier reports of the child can still be read.
  void Kill() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    Wait();
  }

  // Returns the status that waitpid stores.
  int Wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }

 private:
  pid_t pid_ = -1;
  int report_fd_ = -1;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_TESTS_CONTROLLER_STORE_CHILD_PROCESS_H_
