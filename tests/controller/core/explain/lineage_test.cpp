#include "controller/core/explain/lineage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace trainyard::controller {
namespace {

// Returns the jobs as "ID<PARENT", with "@STEP" for resumed jobs.
template <typename Jobs>
std::string Text(const Jobs& jobs) {
  std::vector<std::string> words;
  for (const v1::LineageJob& job : jobs) {
    words.push_back(absl::StrCat(job.job_id(), "<", job.parent_id(),
                                 job.resumed() ? absl::StrCat("@", job.step()) : ""));
  }
  return absl::StrJoin(words, " ");
}

class LineageTest : public testing::Test {
 protected:
  void Add(int64_t id, int64_t resumed_from, int64_t cloned_from, bool archived = false) {
    v1::Job& job = archived ? archive_[id] : state_.jobs[id].job;
    job.set_id(id);
    job.set_name(absl::StrCat("job-", id));
    job.set_state(v1::JOB_STATE_SUCCEEDED);
    job.set_cloned_from(cloned_from);
    if (resumed_from != 0) {
      job.mutable_resumed_from()->set_job_id(resumed_from);
      job.mutable_resumed_from()->set_step(resumed_from * 10);
    }
  }
  void AddChild(int64_t parent, int64_t child) {
    v1::Job& job = archive_.contains(parent) ? archive_[parent] : state_.jobs.at(parent).job;
    job.add_children(child);
  }

  v1::GetLineageResponse LineageOfJob(int64_t id) {
    const v1::Job& job = archive_.contains(id) ? archive_[id] : state_.jobs.at(id).job;
    return LineageOf(NodeOf(job), RelatedJobsOf(state_),
                     [&](int64_t wanted) -> std::optional<LineageNode> {
                       ++searches_;
                       const auto found = archive_.find(wanted);
                       if (found == archive_.end()) return std::nullopt;
                       return NodeOf(found->second);
                     });
  }

  ClusterState state_;
  std::map<int64_t, v1::Job> archive_;
  int searches_ = 0;
};

TEST_F(LineageTest, AJobWithoutRelativesIsAlone) {
  Add(1, 0, 0);
  Add(2, 0, 0);
  const v1::GetLineageResponse lineage = LineageOfJob(2);
  EXPECT_EQ(lineage.job().job_id(), 2);
  EXPECT_EQ(lineage.job().parent_id(), 0);
  EXPECT_EQ(lineage.ancestors_size() + lineage.descendants_size(), 0);
  EXPECT_EQ(searches_, 0);
}

TEST_F(LineageTest, ListsParentsAndGenerationsOfChildren) {
  Add(1, 0, 0);
  Add(2, 1, 1);
  Add(3, 0, 2);
  Add(4, 2, 0);
  Add(5, 3, 0);
  for (const auto& [parent, child] : {std::pair{1, 2}, {2, 3}, {2, 4}, {3, 5}}) {
    AddChild(parent, child);
  }
  EXPECT_EQ(Text(LineageOfJob(1).descendants()), "2<1@10 3<2 4<2@20 5<3@30");
  const v1::GetLineageResponse lineage = LineageOfJob(3);
  EXPECT_EQ(lineage.job().parent_id(), 2);
  EXPECT_FALSE(lineage.job().resumed());
  EXPECT_EQ(Text(lineage.ancestors()), "2<1@10 1<0");
  EXPECT_EQ(Text(lineage.descendants()), "5<3@30");
  EXPECT_EQ(lineage.ancestors(0).name(), "job-2");
  EXPECT_FALSE(lineage.more());
}

// A child of two parents is below the parent through which it was found.
TEST_F(LineageTest, ACheckpointDecidesAboutTheParent) {
  Add(1, 0, 0);
  Add(2, 0, 0);
  Add(3, 2, 1);
  AddChild(1, 3);
  AddChild(2, 3);
  EXPECT_EQ(Text(LineageOfJob(3).ancestors()), "2<0");
  EXPECT_EQ(Text(LineageOfJob(1).descendants()), "3<1");
  EXPECT_EQ(Text(LineageOfJob(2).descendants()), "3<2@20");
}

TEST_F(LineageTest, CrossesTheArchive) {
  Add(1, 0, 0, true);
  Add(2, 1, 0, true);
  Add(3, 2, 0);
  AddChild(1, 2);
  AddChild(2, 3);
  Add(4, 1, 0);  // Submitted after job 1 was archived.
  EXPECT_EQ(Text(LineageOfJob(1).descendants()), "2<1@10 4<1@10 3<2@20");
  EXPECT_EQ(Text(LineageOfJob(3).ancestors()), "2<1@10 1<0");
}

TEST_F(LineageTest, ADeletedParentHasNoNameAndADeletedChildIsLeftOut) {
  Add(2, 1, 0);
  AddChild(2, 3);
  const v1::GetLineageResponse lineage = LineageOfJob(2);
  EXPECT_EQ(Text(lineage.ancestors()), "1<0");
  EXPECT_EQ(lineage.ancestors(0).name(), "");
  EXPECT_EQ(lineage.ancestors(0).state(), v1::JOB_STATE_UNSPECIFIED);
  EXPECT_EQ(lineage.descendants_size(), 0);
}

TEST_F(LineageTest, IsBounded) {
  Add(1, 0, 0);
  for (int64_t id = 2; id <= 130; ++id) {
    Add(id, 0, id - 1);
    AddChild(id - 1, id);
  }
  EXPECT_EQ(LineageOfJob(1).descendants_size(), 100);
  EXPECT_TRUE(LineageOfJob(1).more());
  EXPECT_EQ(LineageOfJob(130).ancestors_size(), 20);
  EXPECT_TRUE(LineageOfJob(130).more());
}

TEST_F(LineageTest, ManyDeletedChildrenCostABoundedSearch) {
  Add(1, 0, 0);
  for (int64_t id = 2; id <= 2'000; ++id) AddChild(1, id);
  EXPECT_TRUE(LineageOfJob(1).more());
  EXPECT_LE(searches_, 300);
}

// Damaged data must not make the search endless.
TEST_F(LineageTest, ACycleEnds) {
  Add(1, 2, 0);
  Add(2, 1, 0);
  AddChild(1, 2);
  AddChild(2, 1);
  EXPECT_EQ(Text(LineageOfJob(2).ancestors()), "1<2@20");
  EXPECT_EQ(Text(LineageOfJob(1).descendants()), "2<1@10");
}

}  // namespace
}  // namespace trainyard::controller
