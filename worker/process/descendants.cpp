#include "worker/process/descendants.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "worker/process/process_table.h"

namespace trainyard::worker {

void AwaitChild(pid_t child) {
  for (;;) {
    siginfo_t info = {};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) != 0) {
      if (errno == EINTR) continue;
      return;
    }
    if (info.si_pid == child) return;
    waitpid(info.si_pid, nullptr, WNOHANG);
  }
}

bool KillDescendants(std::chrono::milliseconds limit) {
  // Use a steady clock: setting the wall clock back must not delay the end.
  const auto deadline = std::chrono::steady_clock::now() + limit;
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  for (;;) {
    for (const pid_t pid : ChildrenOf(getpid())) kill(pid, SIGKILL);
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    if (waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD) return true;
    if (std::chrono::steady_clock::now() >= deadline) return false;
    // The wait is short, because a new orphan does not always cause a SIGCHLD.
    const timespec wait = {0, 50'000'000};
    sigtimedwait(&child, nullptr, &wait);
  }
}

}  // namespace trainyard::worker
