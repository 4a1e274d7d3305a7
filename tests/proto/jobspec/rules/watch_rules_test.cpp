#include "proto/jobspec/rules/watch_rules.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/proto/jobspec/job_files.h"

namespace trainyard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string WatchJob(const std::string& checkpoint) {
  return std::string(kCommandJob) + "checkpoint: {" + checkpoint + "}\n";
}

TEST(WatchRulesTest, PatternsBelowTheDirectoryAreValid) {
  for (const char* checkpoint :
       {"watch: 'ckpt_*.pt'", "watch: 'run/*/step-[0-9]*', step: 'step-(\\d+)'",
        "watch: ckpt.pt, keep_last: 2, keep_every_steps: 100"}) {
    EXPECT_THAT(Errors(WatchJob(checkpoint)), IsEmpty()) << checkpoint;
  }
}

TEST(WatchRulesTest, PatternMustStayBelowTheDirectory) {
  for (const char* pattern : {"/c/*.pt", "../*.pt", "a/../../*.pt", "a//b", "./a", "a/"}) {
    EXPECT_THAT(Errors(WatchJob(std::string("watch: ") + "'" + pattern + "'")),
                ElementsAre(HasSubstr("`checkpoint.watch`")))
        << pattern;
  }
  EXPECT_THAT(Errors(WatchJob("watch: '**/a'")), ElementsAre(HasSubstr("one `*`")));
  EXPECT_THAT(Errors(WatchJob("watch: a/b/c/d/e/f/g/h/i")), ElementsAre(HasSubstr("8 parts")));
}

TEST(WatchRulesTest, TensorboardIsADirectoryOfAProgramOfOthers) {
  for (const char* directory : {"runs", "/shared/runs", "out/logs"}) {
    const std::string job = std::string(kCommandJob) + "tensorboard: " + directory + "\n";
    const auto resolved = Resolve(job);
    ASSERT_TRUE(resolved.ok()) << resolved.status();
    EXPECT_EQ(resolved->spec.tensorboard(), directory) << "not below the directory of the job file";
  }
  EXPECT_THAT(Errors(std::string(kCommandJob) + "tensorboard: ''\n"),
              ElementsAre(HasSubstr("`tensorboard` is empty")));
  EXPECT_THAT(Errors(std::string(kCommandJob) + "tensorboard: " + std::string(1025, 'a') + "\n"),
              ElementsAre(HasSubstr("longer than 1024 bytes")));
  EXPECT_THAT(Errors(std::string(kModelJob) + "tensorboard: runs\n"),
              ElementsAre(HasSubstr("is for jobs with a `command`")));
}

TEST(WatchRulesTest, StepNeedsOneGroupAndAPatternOfFiles) {
  EXPECT_THAT(Errors(WatchJob("watch: a, step: 'a('")), ElementsAre(HasSubstr("not valid")));
  for (const char* step : {"a\\d+", "(a)(\\d+)"}) {
    EXPECT_THAT(Errors(WatchJob(std::string("watch: a, step: '") + step + "'")),
                ElementsAre(HasSubstr("exactly one group")));
  }
  EXPECT_THAT(Errors(WatchJob("step: '(\\d+)'")),
              ElementsAre(HasSubstr("needs `checkpoint.watch`")));
}

TEST(WatchRulesTest, OnlyProgramsOfOthersAreWatched) {
  EXPECT_THAT(Errors(kModelJob, {"checkpoint.watch=*.pt"}),
              ElementsAre(HasSubstr("for jobs with a `command`")));
  EXPECT_THAT(Errors(WatchJob("watch: a, keep_best: 1")), ElementsAre(HasSubstr("keep_last")));
}

TEST(WatchRulesTest, WatchedCheckpointsAreKeptUnlessTheFileAsksForLess) {
  const auto keep_last = [](const std::string& checkpoint) {
    return Resolve(WatchJob(checkpoint))->spec.checkpoint().keep_last();
  };
  EXPECT_EQ(keep_last("watch: '*.pt'"), 100'000);
  EXPECT_EQ(keep_last("watch: '*.pt', keep_last: 2"), 2);
  EXPECT_EQ(keep_last("every_steps: 5"), 3);
}

}  // namespace
}  // namespace trainyard
