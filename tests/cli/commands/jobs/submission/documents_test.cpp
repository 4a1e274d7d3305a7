#include "cli/commands/jobs/submission/documents.h"

#include "gmock/gmock.h"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Job 17 with two attempts. The second one resumed after step 100 and skips samples.
v1::Job TrainedJob() {
  v1::Job job = RunningJob();
  v1::JobSpec& spec = *job.mutable_spec();
  spec.clear_command();
  spec.mutable_data()->set_path("/data/c4");
  spec.mutable_data()->set_seed(7);
  spec.mutable_train()->set_global_batch(8);
  spec.mutable_train()->set_seq_length(64);
  spec.mutable_layout()->set_dp(2);
  spec.mutable_layout()->set_micro_batch(1);
  job.clear_attempts();
  v1::Attempt& first = *job.add_attempts();
  first.set_number(1);
  first.set_last_step(120);
  first.set_placed_time_ms(1000);
  v1::Attempt& second = *job.add_attempts();
  second.set_number(2);
  second.set_resume_step(100);
  second.set_resume_attempt(1);
  second.set_last_step(110);
  second.set_skip_samples("804:808");
  second.set_placed_time_ms(2000);
  return job;
}

DocumentsOptions AtStep(int64_t step) {
  DocumentsOptions options;
  options.step = step;
  return options;
}

std::vector<int64_t> PositionsOf(const absl::StatusOr<data::StepDocumentsOptions>& step) {
  std::vector<int64_t> positions;
  if (!step.ok()) return positions;
  for (const data::StepSample& sample : step->samples) positions.push_back(sample.position);
  return positions;
}

TEST(StepOptionsTest, HasTheSamplesOfTheNewestAttempt) {
  const auto step = StepOptionsOf(TrainedJob(), 0, AtStep(101));
  ASSERT_TRUE(step.ok()) << step.status();
  EXPECT_EQ(step->job, "17 tiny, attempt 2");
  EXPECT_EQ(step->batch, 8);
  EXPECT_EQ(step->seed, 7u);
  EXPECT_EQ(step->trained_ms, 2000);
  EXPECT_THAT(step->sources, ElementsAre("/data/c4"));
  EXPECT_THAT(PositionsOf(step), ElementsAre(800, 801, 802, 803, 808, 809, 810, 811));
  EXPECT_EQ(step->samples[4].number, 804);
  EXPECT_EQ(step->samples[3].data_index, 0);
  EXPECT_EQ(step->samples[4].data_index, 1);
}

// The samples of a spike are those of the attempt that was rolled back.
TEST(StepOptionsTest, AnEarlierAttemptHasItsOwnSamples) {
  EXPECT_THAT(PositionsOf(StepOptionsOf(TrainedJob(), 1, AtStep(101))),
              ElementsAre(800, 801, 802, 803, 804, 805, 806, 807));
  const auto later = StepOptionsOf(TrainedJob(), 0, AtStep(115));
  ASSERT_TRUE(later.ok()) << later.status();
  EXPECT_EQ(later->trained_ms, 1000) << "only attempt 1 has trained step 115";
}

TEST(StepOptionsTest, SamplesCanBeChosen) {
  DocumentsOptions options = AtStep(2);
  options.sample = 3;
  EXPECT_THAT(PositionsOf(StepOptionsOf(TrainedJob(), 0, options)), ElementsAre(10));
  options.sample = 9;
  EXPECT_THAT(StepOptionsOf(TrainedJob(), 0, options).status().message(),
              HasSubstr("step 2 has 8 samples"));
  options.sample = 0;
  options.limit = 2;
  EXPECT_THAT(PositionsOf(StepOptionsOf(TrainedJob(), 0, options)), ElementsAre(8, 9));
}

// A layout that the controller chose decides which ranks read a sample.
TEST(StepOptionsTest, UsesTheLayoutOfTheAttempt) {
  v1::Job job = TrainedJob();
  v1::LayoutSpec& layout = *job.mutable_attempts(1)->mutable_layout()->mutable_layout();
  layout.set_dp(4);
  layout.set_micro_batch(2);
  EXPECT_EQ(StepOptionsOf(job, 0, AtStep(101))->samples[7].data_index, 3);
}

TEST(StepOptionsTest, ReadsTheBlendOfTheStep) {
  v1::Job job = TrainedJob();
  v1::DataSpec& data = *job.mutable_spec()->mutable_data();
  data.clear_path();
  data.add_blend("1 /data/c4");
  data.add_blend("0 /data/code");
  data.add_blend_stages("50 code=1");
  EXPECT_EQ(StepOptionsOf(job, 0, AtStep(49))->samples[7].source, 0);
  EXPECT_EQ(StepOptionsOf(job, 0, AtStep(50))->samples[0].source, 1);
  EXPECT_EQ(StepOptionsOf(job, 0, AtStep(50))->samples[0].place_index, 0);
}

TEST(StepOptionsTest, ErrorsNameTheCause) {
  v1::Job job = TrainedJob();
  EXPECT_THAT(StepOptionsOf(job, 0, AtStep(121)).status().message(),
              HasSubstr("its newest step is 120"));
  EXPECT_THAT(StepOptionsOf(job, 2, AtStep(115)).status().message(),
              HasSubstr("attempt 2 of job 17 tiny has not trained step 115"));
  job.mutable_spec()->mutable_checkpoint()->set_resume_from("/ckpt/other/step-9");
  EXPECT_THAT(StepOptionsOf(job, 0, AtStep(101)).status().message(),
              HasSubstr("continues a checkpoint of another job (/ckpt/other/step-9)"));
  job = TrainedJob();
  job.mutable_spec()->add_command("./train");
  EXPECT_THAT(StepOptionsOf(job, 0, AtStep(101)).status().message(),
              HasSubstr("does not run trainyard-trainer"));
  job = TrainedJob();
  job.mutable_spec()->mutable_layout()->clear_dp();
  job.mutable_spec()->mutable_layout()->set_dp(0);
  EXPECT_EQ(StepOptionsOf(job, 0, AtStep(101)).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

class DocumentsTest : public CliFixture {};

TEST_F(DocumentsTest, AsksTheControllerForTheJob) {
  *answers().job.mutable_job() = TrainedJob();
  EXPECT_EQ(Run({"documents", "17", "--step", "500"}).exit_code, 3);
  EXPECT_THAT(Run({"documents", "17", "--step", "500"}).err, HasSubstr("newest step is 120"));
  EXPECT_EQ(Run({"documents", "17"}).exit_code, 2);
  EXPECT_THAT(Run({"documents", "17", "--step", "5", "-o", "csv"}).err,
              HasSubstr("supports only -o table and json"));
}

}  // namespace
}  // namespace trainyard::cli
