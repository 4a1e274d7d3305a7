#include "controller/core/decide/job_origin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using testing::HasSubstr;

class JobOriginTest : public testing::Test {
 protected:
  JobOriginTest() {
    cluster_.AddNode("a", 1);
    first_ = cluster_.Submit("first", 1, 1);
    cluster_.RunJob(first_);
    cluster_.Publish(first_, 4000);
    path_ = cluster_.Job(first_).checkpoints(0).path();
  }

  v1::SubmitJobRequest RequestFrom(const std::string& path, int64_t cloned_from = 0) const {
    v1::SubmitJobRequest request;
    *request.mutable_spec() = TestSpec("second", 1, 1);
    request.mutable_spec()->mutable_checkpoint()->set_resume_from(path);
    request.set_cloned_from(cloned_from);
    return request;
  }

  TestCluster cluster_;
  int64_t first_ = 0;
  std::string path_;
};

TEST_F(JobOriginTest, ACheckpointIsFoundInTheListOfItsJob) {
  const auto origin = OriginOfCheckpoint(cluster_.state, path_ + "/", "/elsewhere");
  ASSERT_TRUE(origin.has_value());
  EXPECT_EQ(origin->job_id(), first_);
  EXPECT_EQ(origin->step(), 4000);
  EXPECT_FALSE(OriginOfCheckpoint(cluster_.state, "", "/elsewhere").has_value());
  EXPECT_FALSE(OriginOfCheckpoint(cluster_.state, "/other/step_000000100", "").has_value());
  EXPECT_FALSE(OriginOfCheckpoint(cluster_.state, path_ + "0", "/elsewhere").has_value());
}

TEST_F(JobOriginTest, TheCheckpointOfAnArchivedJobIsFoundByItsDirectory) {
  ClusterState state;
  state.newest_job_id = 19;
  const auto origin = OriginOfCheckpoint(state, "/ckpt/17-llama/step_000004000", "/ckpt");
  ASSERT_TRUE(origin.has_value());
  EXPECT_EQ(origin->job_id(), 17);
  EXPECT_EQ(origin->step(), 4000);
  EXPECT_EQ(OriginOfCheckpoint(state, "/ckpt/17-llama/best", "/ckpt/")->step(), 0) << "unknown";
  for (const char* name : {"step_-00000005", "step_+00000005", "step_999999999999999"}) {
    EXPECT_EQ(OriginOfCheckpoint(state, absl::StrCat("/ckpt/17-llama/", name), "/ckpt")->step(), 0)
        << name;
  }
  for (const char* path : {"/ckpt/20-llama/step_000004000", "/ckpt/llama/step_000004000",
                           "/ckpt/0-llama/step_000004000", "/ckpt2/17-llama/step_000004000",
                           "/ckpt", "/ckpt/-1-x/step_000000001"}) {
    EXPECT_FALSE(OriginOfCheckpoint(state, path, "/ckpt").has_value()) << path;
  }
}

TEST_F(JobOriginTest, ASubmissionRecordsBothOrigins) {
  cluster_.Do(Checked(RequestFrom(path_, first_)));
  const v1::Job& second = cluster_.Job(first_ + 1);
  EXPECT_EQ(second.cloned_from(), first_);
  EXPECT_EQ(second.resumed_from().job_id(), first_);
  EXPECT_EQ(second.resumed_from().step(), 4000);
  EXPECT_FALSE(cluster_.Job(first_).has_resumed_from());
  EXPECT_EQ(cluster_.Job(first_).cloned_from(), 0);
}

TEST_F(JobOriginTest, AJobIsOnlyClonedFromOneThatWasSubmitted) {
  for (const int64_t wrong : {int64_t{-1}, first_ + 1}) {
    const absl::Status refused = cluster_.Try(Checked(RequestFrom("", wrong)));
    EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(refused.message(), HasSubstr("cloned_from: there is no job"));
  }
  EXPECT_TRUE(CheckClonedFrom(cluster_.state, first_).ok());
  ClusterState archived;
  archived.newest_job_id = 19;
  EXPECT_TRUE(CheckClonedFrom(archived, 17).ok());
}

}  // namespace
}  // namespace trainyard::controller
