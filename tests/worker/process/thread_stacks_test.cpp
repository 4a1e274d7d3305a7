#include "worker/process/thread_stacks.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::worker {
namespace {

using ::testing::HasSubstr;

// A stopped process in its own process group.
class StoppedProcess {
 public:
  StoppedProcess() : pid_(fork()) {
    if (pid_ == 0) {
      setpgid(0, 0);
      raise(SIGSTOP);
      _exit(0);
    }
    int status = 0;
    waitpid(pid_, &status, WUNTRACED);
  }
  ~StoppedProcess() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  pid_t pid() const { return pid_; }

 private:
  const pid_t pid_;
};

TEST(ThreadStacksTest, NamesTheThreadsOfAProcessThatIsStopped) {
  const StoppedProcess process;
  const std::string text = ThreadStacks(process.pid());
  EXPECT_THAT(text, HasSubstr(std::to_string(process.pid()) + " "));
  EXPECT_THAT(text, HasSubstr("(T)"));
  EXPECT_LE(text.size(), kMaxStackBytes);
}

TEST(ThreadStacksTest, IsEmptyWithoutAProcess) {
  pid_t gone = 0;
  {
    const StoppedProcess process;
    gone = process.pid();
  }
  EXPECT_EQ(ThreadStacks(gone), "");
}

}  // namespace
}  // namespace trainyard::worker
