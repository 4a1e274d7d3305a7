#include "proto/json/message_json.h"
#include "proto/json/enum_text.h"

#include <limits>

#include "gtest/gtest.h"
#include "proto/json/json_text.h"
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

// The JSON tree contains only the fields that are set. The JSON text contains all fields; unset
// fields have the value 0, "", [] or {}.
TEST(MessageJsonTest, TreeAndTextAgreeInWhatIsSet) {
  v1::Job job;
  job.set_id(int64_t{1} << 60);
  job.set_name("a \"b\"");
  job.mutable_spec()->mutable_train()->set_precision(v1::PRECISION_BF16);
  job.mutable_spec()->mutable_stop_grace()->set_nanos(250'000'000);
  (*job.mutable_spec()->mutable_env())["A"] = "b";
  job.add_attempts()->set_number(1);
  job.mutable_attempts(0)->add_ranks()->set_rank(-1);
  job.add_attempts()->set_number(2);
  job.mutable_progress()->set_loss(0.5);
  job.mutable_progress()->set_eta_seconds(std::numeric_limits<double>::infinity());
  const nlohmann::json text = nlohmann::json::parse(JsonText(job));
  const nlohmann::json values = MessageToJson(job).flatten();
  EXPECT_GT(values.size(), 8u);
  for (const auto& [path, value] : values.items()) {
    EXPECT_EQ(text.at(nlohmann::json::json_pointer(path)), value) << path;
  }
  EXPECT_EQ(text["checkpoints"], nlohmann::json::array());
  EXPECT_FALSE(MessageToJson(job).contains("checkpoints"));
  EXPECT_EQ(text["spec"]["stop_grace"], "0.25s");
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
