#include "proto/jobspec/defaults.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(JobSpecDefaultsTest, FillsWhatIsNotWritten) {
  v1::JobSpec spec;
  spec.mutable_train()->set_seed(0);
  spec.mutable_stop_grace()->set_nanos(500'000'000);
  Origins origins;
  FillDefaults(spec, origins);
  EXPECT_EQ(spec.resources().nodes(), 1);
  EXPECT_EQ(spec.restart().window().seconds(), 86400);
  EXPECT_EQ(spec.train().seed(), 0);
  EXPECT_EQ(spec.stop_grace().seconds(), 0) << "a written duration is not mixed with its default";
  EXPECT_THAT(origins, ElementsAre(Pair("layout.dp", kDerivedOrigin),
                                   Pair("torchrun_env", kDerivedOrigin)))
      << "defaults have none";
  const v1::JobSpec filled = spec;
  FillDefaults(spec, origins);
  EXPECT_EQ(spec.DebugString(), filled.DebugString());
}

TEST(JobSpecDefaultsTest, DerivesStepsFromTokens) {
  v1::JobSpec spec;
  spec.mutable_train()->set_tokens(20'000'000'000);
  spec.mutable_train()->set_seq_length(2048);
  spec.mutable_train()->set_global_batch(512);
  Origins origins;
  FillDefaults(spec, origins);
  EXPECT_EQ(spec.train().steps(), 19074);
  EXPECT_EQ(origins["train.steps"], kDerivedOrigin);
}

TEST(JobSpecDefaultsTest, SizesBeyondEveryLimitDeriveNothing) {
  v1::JobSpec spec;
  spec.mutable_layout()->set_tp(INT32_MAX);
  spec.mutable_layout()->set_cp(INT32_MAX);
  spec.mutable_layout()->set_pp(INT32_MAX);
  spec.mutable_train()->set_tokens(-1);
  Origins origins;
  FillDefaults(spec, origins);
  EXPECT_THAT(origins, ElementsAre(Pair("torchrun_env", kDerivedOrigin)));
}

TEST(JobSpecDefaultsTest, GivesWrittenValuesAnOrigin) {
  v1::JobSpec spec;
  spec.set_name("mine");
  spec.add_command("train");
  spec.mutable_train()->set_seed(3);
  spec.mutable_stop_grace()->set_seconds(3);
  Origins origins = {{"name", "mine.yaml:1:7"}};
  FillOrigins(spec, "request", origins);
  EXPECT_THAT(origins, ElementsAre(Pair("command", "request"), Pair("name", "mine.yaml:1:7"),
                                   Pair("stop_grace", "request"), Pair("train.seed", "request")));
}

}  // namespace
}  // namespace trainyard
