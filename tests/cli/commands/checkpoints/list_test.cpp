// Tests `ckpt list`.
#include "gmock/gmock.h"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;

class CheckpointListTest : public CliFixture {
 protected:
  CheckpointListTest() {
    v1::Job& job = *answers().job.mutable_job();
    job = EndedJob(v1::JOB_STATE_FAILED);
    v1::Checkpoint& checkpoint = *job.add_checkpoints();
    checkpoint.set_step(100);
    checkpoint.set_attempt(1);
    checkpoint.set_path("/c/step_000000100");
    checkpoint.set_bytes(3 << 20);
    checkpoint.set_time_ms(kNow - 120000);
    v1::Checkpoint& deleted = *job.add_deleted_checkpoints();
    deleted = checkpoint;
    deleted.set_deleted(true);
    deleted.set_step(50);
  }
};

TEST_F(CheckpointListTest, CheckpointListHidesDeletedOnes) {
  EXPECT_EQ(Run({"ckpt", "list", "17"}).out,
            "STEP  ATTEMPT     SIZE    AGE  STATE      METRIC  PATH\n"
            " 100        1  3.0 MiB  2m00s  published  -       /c/step_000000100\n");
  EXPECT_THAT(Run({"ckpt", "list", "17", "-a"}).out,
              HasSubstr("  50        1  3.0 MiB  2m00s  deleted"));
  EXPECT_THAT(Run({"ckpt", "list", "17", "-o", "csv"}).out,
              HasSubstr("\n100,1,3145728,120,published,-,/c/step_000000100\n"));
  EXPECT_EQ(Run({"ckpt", "list", "17", "-o", "name"}).out, "/c/step_000000100\n");
}

// The best checkpoint is the usable checkpoint with the lowest value of the newest checkpoint's
// metric. Values of other, earlier metrics are ignored.
TEST_F(CheckpointListTest, MarksTheBestCheckpoint) {
  v1::Job& job = *answers().job.mutable_job();
  const auto add = [&](int64_t step, const char* metric, double value) -> v1::Checkpoint& {
    v1::Checkpoint& checkpoint = *job.add_checkpoints();
    checkpoint.set_step(step);
    checkpoint.set_metric(metric);
    checkpoint.set_metric_value(value);
    return checkpoint;
  };
  add(110, "code_loss", 0.5);
  add(120, "val_loss", 2.5);
  add(130, "val_loss", 2.5);
  add(140, "val_loss", 2.0).set_damaged(true);
  const std::string out = Run({"ckpt", "list", "17"}).out;
  EXPECT_THAT(out, HasSubstr("published  val_loss 2.5000 (best)"));
  EXPECT_EQ(out.find("(best)"), out.rfind("(best)"));
  EXPECT_LT(out.find(" 120  "), out.find("(best)"));
  EXPECT_LT(out.find("(best)"), out.find(" 130  "));
  EXPECT_THAT(Run({"describe", "17"}).out, HasSubstr("val_loss 2.5000 (best)"));
}

TEST_F(CheckpointListTest, TheControllersClockDecidesTheAgeOfACheckpoint) {
  answers().job.set_as_of_ms(kNow);
  clock_.now = kNow + 600000;  // This machine's clock is ten minutes ahead.
  EXPECT_THAT(Run({"ckpt", "list", "17"}).out, HasSubstr("  2m00s  published"));
}

}  // namespace
}  // namespace trainyard::cli
