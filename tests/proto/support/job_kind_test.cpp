#include "proto/support/job_kind.h"

#include <set>

#include "gtest/gtest.h"

namespace trainyard {
namespace {

TEST(JobKindTest, TheKindAndTheCommandDecideTheProgram) {
  v1::JobSpec spec;
  EXPECT_EQ(ProgramOf(spec), JobProgram::kTrainer) << "specs of older releases have no kind";
  spec.set_kind(v1::JOB_KIND_TRAIN);
  EXPECT_EQ(ProgramOf(spec), JobProgram::kTrainer);
  spec.add_command("train");
  EXPECT_EQ(ProgramOf(spec), JobProgram::kCommand);
  spec.clear_kind();
  EXPECT_EQ(ProgramOf(spec), JobProgram::kCommand);
  spec.clear_command();
  spec.set_kind(v1::JOB_KIND_DATA);
  EXPECT_EQ(ProgramOf(spec), JobProgram::kData);
}

TEST(JobKindTest, EveryProgramHasItsRulesOnce) {
  std::set<JobProgram> seen;
  for (const ProgramRules& rules : kProgramRules) EXPECT_TRUE(seen.insert(rules.program).second);
  EXPECT_EQ(seen, (std::set{JobProgram::kTrainer, JobProgram::kData, JobProgram::kCommand}));
}

TEST(JobKindTest, DataJobsSaveNothingAndHaveUnequalSteps) {
  v1::JobSpec spec;
  spec.set_kind(v1::JOB_KIND_DATA);
  EXPECT_EQ(ProgramRulesOf(spec).program, JobProgram::kData);
  EXPECT_TRUE(ProgramRulesOf(spec).needs_torchrun_env);
  EXPECT_FALSE(ProgramRulesOf(spec).saves);
  EXPECT_FALSE(ProgramRulesOf(spec).has_layout);
  EXPECT_FALSE(ProgramRulesOf(spec).has_equal_steps);
  EXPECT_TRUE(ProgramRulesOf(spec).first_rank_leads);
  EXPECT_TRUE(ProgramRulesOf(v1::JobSpec()).saves);
  EXPECT_TRUE(ProgramRulesOf(v1::JobSpec()).has_equal_steps);
  EXPECT_FALSE(ProgramRulesOf(v1::JobSpec()).first_rank_leads);
}

}  // namespace
}  // namespace trainyard
