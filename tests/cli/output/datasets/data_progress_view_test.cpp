#include "cli/output/datasets/data_progress_view.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

v1::Progress DataProgressOf(int64_t step) {
  v1::Progress progress;
  progress.set_step(step);
  progress.set_total_steps(100);
  v1::DataProgress& data = *progress.mutable_data();
  data.set_stage(2);
  data.set_stages(5);
  data.set_documents(120'000);
  data.set_dropped_documents(3000);
  data.set_bytes(3 << 20);
  data.set_bytes_per_second(80e6);
  return progress;
}

TEST(DataProgressViewTest, ARateIsInTokensOrBytes) {
  EXPECT_EQ(ProgressRateText(v1::Progress()), "-");
  EXPECT_EQ(ProgressRateText(DataProgressOf(1)), "80.0 MB/s");
  v1::Progress training;
  training.set_tokens_per_second(5230);
  EXPECT_EQ(ProgressRateText(training), "5.23k");
}

TEST(DataProgressViewTest, AStepHasThePhaseOfADataJob) {
  v1::Progress progress = DataProgressOf(40);
  EXPECT_EQ(ProgressStepText(progress), "40/100");
  progress.mutable_data()->set_phase("merge");
  EXPECT_EQ(ProgressStepText(progress), "merge 40/100");
  progress.mutable_data()->set_phase("done");
  EXPECT_EQ(ProgressStepText(progress), "40/100");
  progress.clear_total_steps();
  EXPECT_EQ(ProgressStepText(progress), "40");
  EXPECT_EQ(ProgressStepText(v1::Progress()), "-");
}

TEST(DataProgressViewTest, ALineLeavesOutWhatIsUnknown) {
  EXPECT_EQ(DataProgressText(DataProgressOf(40)), "step 2/5  3.0 MiB  120k documents");
  v1::Progress counted = DataProgressOf(40);
  counted.mutable_data()->clear_bytes();
  counted.mutable_data()->set_tokens(1'500'000'000);
  EXPECT_EQ(DataProgressText(counted), "step 2/5  120k documents  1.5B tokens");
  EXPECT_EQ(DataProgressText(v1::Progress()), "");
  counted.mutable_data()->set_phase("merge");
  EXPECT_EQ(DataProgressText(counted), "step 2/5  merge  120k documents  1.5B tokens");
  counted.mutable_data()->set_phase("done");
  EXPECT_EQ(DataProgressText(counted), "step 2/5  120k documents  1.5B tokens");
}

TEST(DataProgressViewTest, TheResultHasTheDocumentsOfTheJob) {
  v1::Progress progress = DataProgressOf(100);
  EXPECT_EQ(DataResultText(progress), "step 2/5  3.0 MiB  120k documents") << "an older controller";
  progress.mutable_data()->set_read_documents(500'000);
  EXPECT_EQ(DataResultText(progress), "500k documents read, 117k kept");
  progress.mutable_data()->set_tokens(1'500'000'000);
  EXPECT_EQ(DataResultText(progress), "500k documents read, 117k kept  1.5B tokens");
}

TEST(DataProgressViewTest, LinesHaveALabelEach) {
  v1::Progress progress = DataProgressOf(40);
  progress.mutable_data()->set_phase("blocks");
  EXPECT_THAT(DataProgressLines(progress),
              ElementsAre(Pair("Step", "2 of 5"), Pair("Phase", "blocks"),
                          Pair("Documents", "120k read, 3k dropped"), Pair("Input", "3.0 MiB"),
                          Pair("Tokens", ""), Pair("Slowest", "")));
  v1::RunningBlock& block = *progress.mutable_data()->mutable_slowest_block();
  block.set_number(17);
  block.set_seconds(45.2);
  block.set_rank(1);
  EXPECT_THAT(DataProgressLines(progress).back(), Pair("Slowest", "block 17 for 45s on rank 1"));
}

}  // namespace
}  // namespace trainyard::cli
