// Runs the ranks of a test as processes. Each process executes the test program again with a single
// disabled test, because CUDA does not work in a child forked after the first CUDA call.
#ifndef TRAINYARD_TESTS_TRAINER_GPU_MEMBER_PROCESS_H_
#define TRAINYARD_TESTS_TRAINER_GPU_MEMBER_PROCESS_H_

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace trainyard::trainer {

struct MemberSettings {
  static constexpr char kRank[] = "TEST_MEMBER_RANK";
  static constexpr char kPort[] = "TEST_MEMBER_PORT";
  static constexpr char kScenario[] = "TEST_MEMBER_SCENARIO";

  int64_t rank = 0;
  int64_t port = 0;
  std::string scenario;

  // Returns the settings that MemberProcess has passed to this process.
  static MemberSettings OfThisProcess() {
    if (std::getenv(kScenario) == nullptr) throw std::logic_error("is for other tests only");
    return {std::atoi(std::getenv(kRank)), std::atoi(std::getenv(kPort)), std::getenv(kScenario)};
  }
};

// A child process. The destructor kills it if it is still running.
class MemberProcess {
 public:
  // Runs `test`, a disabled test of this program, with these settings.
  MemberProcess(const std::string& test, const MemberSettings& settings) {
    std::vector<std::string> variables = {
        std::string(MemberSettings::kRank) + "=" + std::to_string(settings.rank),
        std::string(MemberSettings::kPort) + "=" + std::to_string(settings.port),
        std::string(MemberSettings::kScenario) + "=" + settings.scenario};
    std::vector<char*> envp;
    for (char** variable = environ; *variable != nullptr; ++variable) envp.push_back(*variable);
    for (std::string& variable : variables) envp.push_back(variable.data());
    envp.push_back(nullptr);
    std::string program = "/proc/self/exe", filter = "--gtest_filter=" + test,
                disabled = "--gtest_also_run_disabled_tests";
    char* const argv[] = {program.data(), filter.data(), disabled.data(), nullptr};
    if (posix_spawn(&pid_, program.c_str(), nullptr, nullptr, argv, envp.data()) != 0) pid_ = -1;
  }
  ~MemberProcess() {
    if (pid_ < 0 || over_) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  MemberProcess(const MemberProcess&) = delete;
  MemberProcess& operator=(const MemberProcess&) = delete;

  // Returns the exit code, or 128 + the number of the signal that ended the process; -1 if it
  // hangs.
  int Wait() {
    const auto deadline = std::chrono::steady_clock::now() + kLimit;
    int status = 0;
    while (pid_ > 0 && std::chrono::steady_clock::now() < deadline) {
      over_ = waitpid(pid_, &status, WNOHANG) == pid_;
      if (over_) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return -1;
  }

 private:
  // Limit of a whole process: loading CUDA, the waits of a test, and exit.
  static constexpr std::chrono::seconds kLimit{240};

  pid_t pid_ = -1;
  bool over_ = false;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_GPU_MEMBER_PROCESS_H_
