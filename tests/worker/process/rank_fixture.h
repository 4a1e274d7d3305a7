// Real ranks in a directory of their own, for tests.
#ifndef TRAINYARD_TESTS_WORKER_PROCESS_RANK_FIXTURE_H_
#define TRAINYARD_TESTS_WORKER_PROCESS_RANK_FIXTURE_H_

#include <sys/types.h>

#include <string>

#include "gtest/gtest.h"
#include "tests/fakes/temporary_directory.h"
#include "worker/process/rank_process.h"

namespace trainyard::worker {

// Starts ranks through the real shim. Whatever a test leaves running is killed at its end.
class RankTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  const std::string& dir() const { return directory_.path(); }
  // Place of a rank whose mark no other test has.
  RankPlace place() const { return RankPlace(dir(), "test-" + dir()); }
  std::string File(const std::string& name) const { return directory_.File(name); }
  const RankLauncher& launcher() const { return launcher_; }

  // `/bin/sh -c SCRIPT` in the rank's directory.
  RankCommand Shell(const std::string& script) const;
  absl::Status LaunchShell(const std::string& script);

  // Waits (10 s at most) until the script has done `echo WORD > word`; returns WORD.
  std::string AwaitWord();

  // Waits (10 s at most) on the exit watch, then reads the state.
  RankState AwaitEnd();

  // Waits for the end of any process; false when it still lives after 10 s.
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
