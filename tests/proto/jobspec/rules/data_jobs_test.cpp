#include "proto/jobspec/rules/data_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "proto/jobspec/defaults.h"
#include "proto/jobspec/fields/run_config_of.h"
#include "tests/proto/jobspec/job_files.h"

namespace trainyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kDataJob[] = "name: wiki\nkind: data\npipeline: /data/wiki.yaml\n";

TEST(DataJobsTest, ADataJobHasSlotsButNoSettingsOfTraining) {
  const auto resolved = Resolve(std::string(kDataJob) + "resources: {nodes: 3}\n");
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  const v1::JobSpec& spec = resolved->spec;
  EXPECT_EQ(spec.kind(), v1::JOB_KIND_DATA);
  EXPECT_EQ(spec.pipeline(), "/data/wiki.yaml");
  EXPECT_EQ(spec.resources().device(), v1::DEVICE_KIND_CPU);
  EXPECT_EQ(resolved->origins.at("resources.device"), kDerivedOrigin);
  EXPECT_EQ(WorldSize(spec), 3);
  EXPECT_TRUE(spec.torchrun_env());
  EXPECT_TRUE(spec.has_restart());
  EXPECT_FALSE(RunsOurTrainer(spec));
  for (const bool present : {spec.has_model(), spec.has_layout(), spec.has_train(), spec.has_data(),
                             spec.has_optimizer(), spec.has_schedule(), spec.has_evaluation(),
                             spec.has_checkpoint(), spec.has_guard(), spec.has_log_parser()}) {
    EXPECT_FALSE(present);
  }
}

TEST(DataJobsTest, FillingDefaultsTwiceChangesNothing) {
  v1::JobSpec spec = Resolve(kDataJob)->spec;
  const std::string once = spec.SerializeAsString();
  Origins origins;
  FillDefaults(spec, origins);
  EXPECT_EQ(spec.SerializeAsString(), once);
}

TEST(DataJobsTest, SettingsOfTrainingAreRefusedByName) {
  for (const char* setting :
       {"train: {steps: 3}", "model: {num_layers: 2}", "layout: {tp: 2}", "layout: auto",
        "data: {path: /tokens}", "optimizer: {lr: 0.1}", "checkpoint: {every_steps: 5}",
        "guard: {window: 7}", "evaluation: {every_steps: 5}", "command: [python3]",
        "log_parser: {kind: nanogpt}", "schedule: {warmup_steps: 1}"}) {
    EXPECT_THAT(Errors(absl::StrCat(kDataJob, setting, "\n")),
                Contains(HasSubstr("does not apply to a job of kind data")))
        << setting;
  }
  EXPECT_THAT(Errors(std::string(kDataJob) + "train: {steps: 3}\n"),
              ElementsAre(HasSubstr("`train` does not apply")));
}

TEST(DataJobsTest, ADataJobNeedsAPipelineAndCpuSlots) {
  EXPECT_THAT(Errors("name: wiki\nkind: data\n"), ElementsAre(HasSubstr("`pipeline` is missing")));
  EXPECT_THAT(Errors(std::string(kDataJob) + "resources: {device: gpu}\n"),
              ElementsAre(HasSubstr("data jobs run on CPU slots")));
  EXPECT_THAT(Errors(std::string(kDataJob) + "torchrun_env: false\n"),
              ElementsAre(HasSubstr("trainyard-data needs torchrun's variables")));
  EXPECT_THAT(Errors(std::string(kDataJob) + "restart: {spares: 1}\n"),
              ElementsAre(HasSubstr("only trainyard-trainer can use spares")));
}

TEST(DataJobsTest, APipelineNeedsTheKind) {
  EXPECT_THAT(Errors(absl::StrCat(kCommandJob, "pipeline: /data/wiki.yaml\n")),
              ElementsAre(HasSubstr("`pipeline` is only for data jobs; add `kind: data`")));
  EXPECT_THAT(Errors(absl::StrCat(kCommandJob, "kind: train\n")), IsEmpty());
}

TEST(DataJobsTest, APipelineOfARelativePathIsBesideTheJobFile) {
  const auto resolved = Resolve("name: wiki\nkind: data\npipeline: wiki.yaml\n");
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  EXPECT_THAT(resolved->spec.pipeline(), testing::EndsWith("/wiki.yaml"));
  EXPECT_THAT(resolved->spec.pipeline(), testing::StartsWith("/"));
}

}  // namespace
}  // namespace trainyard
