#include "controller/core/state/attempts/restart_budget.h"

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

TEST(RestartBudgetTest, ANewerCheckpointStartsTheCountOfRestartsWithoutProgressAnew) {
  JobEntry entry;
  entry.job.mutable_spec()->mutable_restart()->mutable_window()->set_seconds(60);
  entry.job.add_attempts()->set_number(1);
  CountRestart(1000, entry);
  CountRestart(2000, entry);
  EXPECT_EQ(entry.restarts_without_progress, 2);
  v1::Checkpoint& checkpoint = *entry.job.add_checkpoints();
  checkpoint.set_attempt(1);
  checkpoint.set_step(10);
  CountRestart(3000, entry);
  EXPECT_EQ(entry.restarts_without_progress, 0);
  EXPECT_EQ(entry.job.restarts(), 3);
}

}  // namespace
}  // namespace trainyard::controller
