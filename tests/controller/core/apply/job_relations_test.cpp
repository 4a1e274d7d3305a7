#include "controller/core/apply/job_relations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "controller/core/event_log/snapshot.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class JobRelationsTest : public testing::Test {
 protected:
  JobRelationsTest() { cluster_.AddNode("a", 1); }

  int64_t Clone(int64_t of, const std::string& name) {
    v1::SubmitJobRequest request;
    *request.mutable_spec() = TestSpec(name, 1, 1);
    request.set_cloned_from(of);
    return cluster_.Do(Checked(request)).front().job_submitted().job_id();
  }

  TestCluster cluster_;
};

TEST_F(JobRelationsTest, AParentListsItsChildren) {
  const int64_t parent = cluster_.Submit("parent", 1, 1);
  const int64_t one = Clone(parent, "one"), two = Clone(parent, "two");
  EXPECT_THAT(cluster_.Job(parent).children(), ElementsAre(one, two));
  EXPECT_THAT(cluster_.Job(one).children(), IsEmpty());
  const ClusterState copy = FromSnapshot(ToSnapshot(cluster_.state, 0));
  EXPECT_EQ(Bytes(copy), Bytes(cluster_.state));
  EXPECT_THAT(copy.jobs.at(parent).job.children(), ElementsAre(one, two));
}

TEST_F(JobRelationsTest, AJobResumedAndClonedFromOneJobIsListedOnce) {
  const int64_t parent = cluster_.Submit("parent", 1, 1);
  v1::JobSubmitted submitted;
  submitted.set_job_id(cluster_.Submit("child", 1, 1));
  submitted.set_cloned_from(parent);
  submitted.mutable_resumed_from()->set_job_id(parent);
  AddRelations(submitted, cluster_.state);
  EXPECT_THAT(cluster_.Job(parent).children(), ElementsAre(submitted.job_id()));
}

TEST_F(JobRelationsTest, OnlyTheNewestChildrenAreListed) {
  const int64_t parent = cluster_.Submit("parent", 1, 1);
  for (int i = 0; i <= kChildrenKept; ++i) Clone(parent, absl::StrCat("child-", i));
  EXPECT_EQ(cluster_.Job(parent).children_size(), kChildrenKept);
  EXPECT_EQ(cluster_.Job(parent).children(0), parent + 2);
}

// Events of releases that recorded no origins.
TEST_F(JobRelationsTest, AnOldSubmissionHasNoRelations) {
  v1::JobSubmitted submitted;
  submitted.set_job_id(cluster_.Submit("job", 1, 1));
  AddRelations(submitted, cluster_.state);
  EXPECT_FALSE(cluster_.Job(submitted.job_id()).has_resumed_from());
  EXPECT_EQ(cluster_.Job(submitted.job_id()).cloned_from(), 0);
}

}  // namespace
}  // namespace trainyard::controller
