#include "proto/json/message_json.h"

#include <limits>

#include "gtest/gtest.h"
#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/job_spec.pb.h"
#include "trainyard/v1/node_service.pb.h"

namespace trainyard {
namespace {

TEST(JobSpecJsonTest, RendersEnumsDurationsMapsAndLists) {
  v1::JobSpec spec;
  spec.set_name("a");
  spec.mutable_train()->set_precision(v1::PRECISION_BF16);
  spec.mutable_train()->set_steps(int64_t{1} << 60);
  spec.mutable_stop_grace()->set_seconds(90);
  spec.add_command("python3");
  (*spec.mutable_env())["A"] = "b";
  EXPECT_EQ(MessageToJson(spec), nlohmann::json::parse(R"({
    "name": "a", "train": {"precision": "bf16", "steps": 1152921504606846976},
    "stop_grace": "90s", "command": ["python3"], "env": {"A": "b"}})"));
}

TEST(JobSpecJsonTest, KeepsNumbersThatJsonHasNoNameFor) {
  v1::Progress progress;
  progress.set_loss(std::numeric_limits<double>::quiet_NaN());
  progress.set_eta_seconds(-std::numeric_limits<double>::infinity());
  const nlohmann::json json = MessageToJson(progress);
  EXPECT_EQ(json["loss"], "NaN");
  EXPECT_EQ(json["eta_seconds"], "-Infinity");
}

TEST(JobSpecJsonTest, NamesEnumsShortly) {
  EXPECT_EQ(EnumText(v1::JOB_STATE_RUNNING), "running");
  EXPECT_EQ(EnumText(v1::VERDICT_CAUSE_NODE_LOST), "node_lost");
  EXPECT_EQ(EnumText(static_cast<v1::JobState>(99)), "99");
  EXPECT_EQ(EnumValueByShortName(*v1::Precision_descriptor(), "bf16")->number(), 2);
  EXPECT_EQ(EnumValueByShortName(*v1::Precision_descriptor(), "unspecified"), nullptr);
}

}  // namespace
}  // namespace trainyard
