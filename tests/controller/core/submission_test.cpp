#include "controller/core/submission.h"

#include <string>
#include <vector>

#include "controller/core/apply.h"
#include "controller/core/origins.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/support/job_spec_loader.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::HasSubstr;

// As the command line sends it: a resolved file with the origin of every value.
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
  request.set_user("ada");
  return request;
}

Origins ShownOrigins(const JobEntry& entry) {
  OriginList list = entry.job.origins();
  UnpackDefaults(entry.default_fields, list);
  Origins origins;
  std::string before;
  for (const v1::Origin& origin : list) {
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
  const absl::Status status = SubmitJob::Check(request).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("name"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("\n"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("restart.max_restarts"));
}

TEST(SubmissionTest, SaysWhereInTheFileARuleIsBroken) {
  v1::SubmitJobRequest request = ResolvedRequest();
  request.mutable_spec()->set_name("UPPER");
  const absl::Status status = SubmitJob::Check(request).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("job file:1:7: `name`"));
}

TEST(SubmissionTest, RefusesLongTexts) {
  v1::SubmitJobRequest request = ResolvedRequest();
  request.set_request_id(std::string(257, 'r'));
  EXPECT_THAT(std::string(SubmitJob::Check(request).status().message()), HasSubstr("request id"));
  request = ResolvedRequest();
  request.set_user(std::string(257, 'u'));
  EXPECT_THAT(std::string(SubmitJob::Check(request).status().message()), HasSubstr("user name"));
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
  ASSERT_EQ(expected["train.seed"], kDefaultOrigin);
  EXPECT_EQ(ShownOrigins(cluster.state.jobs.at(1)), expected);
}

TEST(SubmissionTest, DefaultsThatTheServerFillsInHaveTheSameOrigins) {
  v1::SubmitJobRequest request = ResolvedRequest();
  const SubmitJob with_origins = Checked(request);
  request.clear_origins();
  v1::JobSpec& spec = *request.mutable_spec();
  spec.Clear();
  spec.set_name("fine");
  spec.add_command("train");
  spec.mutable_optimizer()->set_lr(0.01);
  spec.mutable_resources()->set_device(v1::DEVICE_KIND_CPU);
  const SubmitJob bare = Checked(request);
  EXPECT_EQ(bare.submitted().spec().DebugString(), with_origins.submitted().spec().DebugString());
  EXPECT_EQ(std::vector(bare.submitted().default_fields().begin(),
                        bare.submitted().default_fields().end()),
            std::vector(with_origins.submitted().default_fields().begin(),
                        with_origins.submitted().default_fields().end()));
  EXPECT_GT(bare.submitted().default_fields_size(), 30);
}

TEST(SubmissionTest, DefaultsTakeFewBytesInTheEvent) {
  const SubmitJob submit = Checked(ResolvedRequest());
  for (const v1::Origin& origin : submit.submitted().origins()) {
    EXPECT_NE(origin.source(), kDefaultOrigin) << origin.key();
  }
  EXPECT_LT(submit.submitted().ByteSizeLong() - submit.submitted().spec().ByteSizeLong(), 500u);
}

// What was written before fields had numbers: origins name every default.
v1::Event OlderEvent() {
  v1::Event event;
  event.set_time_ms(1);
  v1::JobSubmitted& submitted = *event.mutable_job_submitted();
  const v1::SubmitJobRequest request = ResolvedRequest();
  submitted.set_job_id(1);
  *submitted.mutable_spec() = request.spec();
  *submitted.mutable_origins() = request.origins();
  return event;
}

TEST(SubmissionTest, OlderEventsAndSnapshotsShowTheSameOrigins) {
  const v1::Event event = OlderEvent();
  Origins expected;
  for (const v1::Origin& origin : event.job_submitted().origins()) {
    expected[origin.key()] = origin.source();
  }
  ClusterState state;
  Apply(event, state);
  EXPECT_EQ(ShownOrigins(state.jobs.at(1)), expected);
  EXPECT_LT(state.jobs.at(1).job.origins_size(), 10);

  v1::Snapshot snapshot = ToSnapshot(state, 1);
  EXPECT_EQ(ShownOrigins(FromSnapshot(snapshot).jobs.at(1)), expected);
  *snapshot.mutable_jobs(0)->mutable_origins() = event.job_submitted().origins();
  snapshot.mutable_job_details(0)->clear_default_fields();
  EXPECT_EQ(ShownOrigins(FromSnapshot(snapshot).jobs.at(1)), expected);
}

TEST(SubmissionTest, TheHistoryShowsEveryOriginOfTheEvent) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  v1::Event event = cluster.Do(Checked(ResolvedRequest())).front();
  UnpackDefaults(event);
  const v1::JobSubmitted& submitted = event.job_submitted();
  EXPECT_EQ(submitted.default_fields_size(), 0);
  EXPECT_EQ(submitted.origins_size(), ResolvedRequest().origins_size() + 1);
}

}  // namespace
}  // namespace trainyard::controller
