#include "controller/core/requests/submission.h"
#include "controller/core/explain/preview.h"

#include <string>
#include <vector>

#include "controller/core/apply/apply.h"
#include "controller/core/event_log/snapshot.h"
#include "controller/core/state/jobs/origin_list.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/contract/limits.h"
#include "proto/jobspec/loader.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::HasSubstr;

// Returns a request as the command line sends it: a resolved job file and the origin of every
// value.
v1::SubmitJobRequest ResolvedRequest() {
  v1::SubmitJobRequest request;
  auto resolved = ResolveJobFile(kSentJobFile, {"optimizer.lr=0.01", "resources.device=cpu"},
                                 SentJobFileReader("name: fine\ncommand: [train]\n", {}));
  EXPECT_TRUE(resolved.ok()) << resolved.status();
  *request.mutable_spec() = resolved->spec;
  for (const auto& [key, source] : resolved->origins) {
    v1::Origin& origin = *request.add_origins();
    origin.set_key(key);
    origin.set_source(source);
  }
  return request;
}

Origins ShownOrigins(const std::string& origin_list) {
  v1::Job job;
  UnpackOrigins(origin_list, job);
  Origins origins;
  std::string before;
  for (const v1::Origin& origin : job.origins()) {
    EXPECT_LT(before, origin.key()) << "sorted, each key once";
    before = origin.key();
    origins[origin.key()] = origin.source();
  }
  return origins;
}

TEST(SubmissionTest, ListsEveryBrokenRule) {
  v1::SubmitJobRequest request;
  *request.mutable_spec() = TestSpec("UPPER", 1, 1);
  request.mutable_spec()->mutable_restart()->set_max_restarts(-1);
  const absl::Status status = JobSubmission::Check(request, {"ada"}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("name"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("\n"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("restart.max_restarts"));
}

TEST(SubmissionTest, ANameOfDigitsWouldBeTakenForANumber) {
  v1::SubmitJobRequest request;
  *request.mutable_spec() = TestSpec("17", 1, 1);
  EXPECT_THAT(std::string(JobSubmission::Check(request, {"ada"}).status().message()),
              HasSubstr("digits only"));
  request.mutable_spec()->set_name("run-17");
  EXPECT_TRUE(JobSubmission::Check(request, {"ada"}).ok());
}

TEST(SubmissionTest, ARequestIdStandsForOneSpec) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  cluster.Submit(TestSpec("first", 1, 1), "request-1");
  v1::SubmitJobRequest request;
  request.set_request_id("request-1");
  *request.mutable_spec() = TestSpec("first", 1, 1);
  EXPECT_TRUE(cluster.Do(Checked(request)).empty()) << "the same again";
  request.mutable_spec()->add_command("--more");
  const absl::Status refused = cluster.Try(Checked(request));
  EXPECT_EQ(refused.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("job 1 (first)"));
}

TEST(SubmissionTest, ASpecHasALargestSize) {
  v1::JobSpec spec = TestSpec("large", 1, 1);
  std::string& text = *spec.add_command();
  text = std::string(kMaxJobFileBytes, 'x');
  text.resize(text.size() - (spec.ByteSizeLong() - kMaxJobFileBytes));
  ASSERT_EQ(spec.ByteSizeLong(), kMaxJobFileBytes);
  EXPECT_EQ(CheckSpec(spec, {}), absl::OkStatus());
  spec.mutable_command(spec.command_size() - 1)->push_back('x');
  EXPECT_THAT(std::string(CheckSpec(spec, {}).message()), HasSubstr("too large"));
}

TEST(SubmissionTest, SaysWhereInTheFileARuleIsBroken) {
  v1::SubmitJobRequest request = ResolvedRequest();
  request.mutable_spec()->set_name("UPPER");
  const absl::Status status = JobSubmission::Check(request, {"ada"}).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("job file:1:7: `name`"));
}

TEST(SubmissionTest, RefusesLongTexts) {
  v1::SubmitJobRequest request = ResolvedRequest();
  request.set_request_id(std::string(257, 'r'));
  EXPECT_THAT(std::string(JobSubmission::Check(request, {"ada"}).status().message()),
              HasSubstr("request id"));
}

TEST(SubmissionTest, AJobShowsEveryOriginThatItWasSubmittedWith) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const v1::SubmitJobRequest request = ResolvedRequest();
  cluster.Do(Checked(request));
  Origins expected;
  for (const v1::Origin& origin : request.origins()) expected[origin.key()] = origin.source();
  expected["checkpoint.dir"] = kDerivedOrigin;
  ASSERT_EQ(expected["optimizer.lr"], "--set optimizer.lr");
  ASSERT_FALSE(expected.contains("train.seed")) << "a default";
  EXPECT_EQ(ShownOrigins(cluster.state.jobs.at(1).origin_list), expected);
}

TEST(SubmissionTest, ARequestWithoutOriginsWroteEveryValueOfItsSpec) {
  v1::SubmitJobRequest request;
  v1::JobSpec& spec = *request.mutable_spec();
  spec.set_name("fine");
  spec.add_command("train");
  spec.mutable_optimizer()->set_lr(0.01);
  spec.mutable_resources()->set_device(v1::DEVICE_KIND_CPU);
  const JobSubmission bare = Checked(request);
  EXPECT_EQ(bare.submitted().spec().DebugString(),
            Checked(ResolvedRequest()).submitted().spec().DebugString());
  EXPECT_EQ(ShownOrigins(bare.submitted().origin_list()),
            (Origins{{"name", "request"},
                     {"command", "request"},
                     {"optimizer.lr", "request"},
                     {"resources.device", "request"},
                     {"layout.dp", kDerivedOrigin},
                     {"torchrun_env", kDerivedOrigin},
                     {"checkpoint.dir", kDerivedOrigin}}));
}

TEST(SubmissionTest, DefaultsTakeFewBytesInTheEvent) {
  const JobSubmission submit = Checked(ResolvedRequest());
  for (const auto& [key, source] : ShownOrigins(submit.submitted().origin_list())) {
    EXPECT_NE(source, kDefaultOrigin) << key;
  }
  EXPECT_LT(submit.submitted().ByteSizeLong() - submit.submitted().spec().ByteSizeLong(), 300u);
}

// Returns an event with every default written out, as in logs and requests of older versions.
v1::Event OlderEvent() {
  v1::Event event;
  event.set_time_ms(1);
  v1::JobSubmitted& submitted = *event.mutable_job_submitted();
  const v1::SubmitJobRequest request = ResolvedRequest();
  submitted.set_job_id(1);
  *submitted.mutable_spec() = request.spec();
  *submitted.mutable_origins() = request.origins();
  v1::Origin& origin = *submitted.add_origins();
  origin.set_key("train.seed");
  origin.set_source(kDefaultOrigin);
  return event;
}

TEST(SubmissionTest, OlderEventsAndSnapshotsShowTheSameOrigins) {
  const v1::Event event = OlderEvent();
  Origins expected;
  const v1::SubmitJobRequest request = ResolvedRequest();
  for (const v1::Origin& origin : request.origins()) expected[origin.key()] = origin.source();
  ClusterState state;
  Apply(event, state);
  EXPECT_EQ(ShownOrigins(state.jobs.at(1).origin_list), expected);

  v1::Snapshot snapshot = ToSnapshot(state, 1);
  EXPECT_EQ(ShownOrigins(FromSnapshot(snapshot).jobs.at(1).origin_list), expected);
  *snapshot.mutable_jobs(0)->mutable_origins() = event.job_submitted().origins();
  EXPECT_EQ(ShownOrigins(FromSnapshot(snapshot).jobs.at(1).origin_list), expected);
}

TEST(SubmissionTest, RefusesWhatTheTrainerCannotStart) {
  v1::SubmitJobRequest request;
  *request.mutable_spec() = TestSpec("ours", 1, 2);
  v1::JobSpec& spec = *request.mutable_spec();
  spec.clear_command();
  spec.mutable_model()->set_num_layers(2);
  spec.mutable_model()->set_hidden_size(64);
  spec.mutable_model()->set_ffn_hidden_size(128);
  spec.mutable_model()->set_num_attention_heads(4);
  spec.mutable_model()->set_vocab_size(256);
  spec.mutable_train()->set_seq_length(32);
  spec.mutable_train()->set_precision(v1::PRECISION_FP32);
  spec.mutable_train()->set_global_batch(8);
  spec.mutable_train()->set_tokens(1'000'000);
  spec.mutable_layout()->set_ep(2);
  const absl::Status status = JobSubmission::Check(request, {"ada"}).status();
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("`layout.ep` (2) needs `model.num_experts`"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("`data.path` is missing"));

  TestCluster cluster;
  cluster.AddNode("a", 2);
  const auto plan = PreviewJob(cluster.View(), spec);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->ranks_size(), 2) << "a plan needs neither data nor a trainer that can run it";
  EXPECT_THAT(plan->warnings(),
              testing::ElementsAre(HasSubstr("data.path"), HasSubstr("layout.ep")));
}

TEST(SubmissionTest, RefusesASpecOverTheLargestSize) {
  v1::SubmitJobRequest request;
  *request.mutable_spec() = TestSpec("large", 1, 1);
  request.mutable_spec()->add_command(std::string(kMaxJobFileBytes, 'x'));
  const absl::Status status = JobSubmission::Check(request, {"ada"}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("the job file is too large"));
}

// A repeated request may omit the checkpoint directory, because the controller may have chosen it.
// If the request names a directory, it must be the job's directory.
TEST(SubmissionTest, ACheckpointDirectoryThatTheRequestNamesMustBeTheSame) {
  v1::JobSpec made = TestSpec("job", 1, 1);
  made.mutable_checkpoint()->set_dir("/c/1");
  v1::JobSpec asked = made;
  EXPECT_TRUE(AsksForSameJob(made, asked));
  asked.mutable_checkpoint()->set_dir("/c/2");
  EXPECT_FALSE(AsksForSameJob(made, asked));
  asked.mutable_checkpoint()->clear_dir();
  EXPECT_TRUE(AsksForSameJob(made, asked));
  asked.add_command("--more");
  EXPECT_FALSE(AsksForSameJob(made, asked));
}

}  // namespace
}  // namespace trainyard::controller
