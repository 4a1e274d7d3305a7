#include "trainer/process/signals.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

#include "proto/contract/exit_code.h"

namespace trainyard::trainer {
namespace {

// Waits for the signal, then exits with 0 if the signal has not ended the process.
void Outlive(int signal) {
  WatchSignals();
  raise(signal);
  std::exit(0);
}

TEST(SignalsTest, APeerThatHasDiedDoesNotEndTheRankThatWritesToIt) {
  EXPECT_EXIT(Outlive(SIGPIPE), testing::ExitedWithCode(0), "");
}

TEST(SignalsTest, BeforeTheFirstStepThereIsNothingToSave) {
  EXPECT_EXIT(Outlive(SIGTERM), testing::ExitedWithCode(static_cast<int>(ExitCode::kTerminated)),
              "");
}

TEST(SignalsTest, ARequestToSaveIsTakenOnce) {
  WatchSignals();
  EXPECT_FALSE(TakeSaveRequest());
  raise(SIGUSR1);
  EXPECT_TRUE(TakeSaveRequest());
  EXPECT_FALSE(TakeSaveRequest());
}

}  // namespace
}  // namespace trainyard::trainer
