// Starts real ranks in a temporary directory, for tests.
#ifndef TRAINYARD_TESTS_WORKER_PROCESS_RANK_FIXTURE_H_
#define TRAINYARD_TESTS_WORKER_PROCESS_RANK_FIXTURE_H_

#include <sys/types.h>

#include <string>

#include "gtest/gtest.h"
#include "tests/fakes/temporary_directory.h"
#include "worker/process/rank_process.h"

namespace trainyard::worker {

// Starts ranks with the real shim. After a test, kills all processes that the test left running.
class RankTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  const std::string& dir() const { return directory_.path(); }
  // Returns a rank's place with a mark that is unique to this test.
  RankPlace place() const { return RankPlace(dir(), "test-" + dir()); }
  std::string File(const std::string& name) const { return directory_.File(name); }
  const RankLauncher& launcher() const { return launcher_; }

  // Returns the command `/bin/sh -c SCRIPT`, to run in the rank's directory.
  RankCommand Shell(const std::string& script) const;
  absl::Status LaunchShell(const std::string& script);

  // Waits (at most 10 s) until the script has executed `echo WORD > word`. Returns WORD.
  std::string AwaitWord();

  // Waits up to 10 s on the exit watch, then reads and returns the rank's state.
  RankState AwaitEnd();

  // Waits up to 10 s for the process to end. Returns false if the process is still running.
  static bool AwaitGone(pid_t pid);

  std::string Output() const;
  ShimRecord Shim() const;

 private:
  TemporaryDirectory directory_;
  RankLauncher launcher_{SHIM_PROGRAM};
  UniqueFd word_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_TESTS_WORKER_PROCESS_RANK_FIXTURE_H_
