#include "controller/core/decide/deletion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "controller/core/apply/apply.h"
#include "controller/core/decide/references.h"
#include "controller/core/event_log/snapshot.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

DeleteJob Deletion(const std::string& job, std::vector<std::string> checkpoints = {}) {
  DeleteJob deletion{.request = {}, .principal = {"ada"}, .checkpoints = std::move(checkpoints)};
  deletion.request.set_job(job);
  return deletion;
}

DeleteJob Deletion(int64_t job) { return Deletion(absl::StrCat(job)); }

// Runs and ends a job.
int64_t EndedJob(const std::string& name, TestCluster& cluster) {
  const int64_t job = cluster.Submit(name, 1, 2);
  cluster.RunJob(job);
  cluster.ExitAll(job, 0);
  cluster.ClearAll(job);
  EXPECT_EQ(cluster.StateOf(job), v1::JOB_STATE_SUCCEEDED);
  return job;
}

class DeletionTest : public testing::Test {
 protected:
  DeletionTest() { cluster_.AddNode("a", 2); }

  TestCluster cluster_;
};

TEST_F(DeletionTest, OnlyEndedJobsGo) {
  const int64_t job = cluster_.Submit("job", 1, 2);
  EXPECT_TRUE(absl::IsFailedPrecondition(cluster_.Try(Deletion(job)))) << "queued";
  cluster_.RunJob(job);
  const absl::Status running = cluster_.Try(Deletion(job));
  EXPECT_TRUE(absl::IsFailedPrecondition(running));
  EXPECT_THAT(running.message(), HasSubstr("trainyard stop"));
  EXPECT_TRUE(absl::IsNotFound(cluster_.Try(Deletion(77))));
}

TEST_F(DeletionTest, TakesTheJobOutOfStateAndSnapshot) {
  const int64_t job = EndedJob("job", cluster_);
  const auto events = cluster_.Do(Deletion(job));
  EXPECT_EQ(events.front().actor(), "user ada");
  EXPECT_EQ(events.front().job_deleted().name(), "job");
  EXPECT_FALSE(cluster_.state.jobs.contains(job));
  EXPECT_TRUE(absl::IsNotFound(cluster_.Try(Deletion(job))));
  const ClusterState again = FromSnapshot(ToSnapshot(cluster_.state, 1));
  EXPECT_EQ(Bytes(again), Bytes(cluster_.state));
  EXPECT_EQ(DifferentIndexes(again, cluster_.state), "");
  EXPECT_EQ(EndedJob("next", cluster_), job + 1) << "its number is not given out again";
}

TEST_F(DeletionTest, AnArchivedJobComesWithTheRequest) {
  const int64_t job = EndedJob("job", cluster_);
  DeleteJob deletion = Deletion(job);
  deletion.archived = std::make_shared<const JobEntry>(cluster_.state.jobs.at(job));
  v1::Event archived;
  archived.set_time_ms(cluster_.now);
  archived.mutable_job_archived()->set_job_id(job);
  Apply(archived, cluster_.state);
  EXPECT_TRUE(absl::IsNotFound(cluster_.Try(Deletion(job)))) << "the core does not see the archive";
  const std::string before = Bytes(cluster_.state);
  const auto events = cluster_.Do(deletion);
  EXPECT_EQ(events.front().job_deleted().job_id(), job);
  EXPECT_EQ(events.front().job_deleted().name(), "job");
  EXPECT_EQ(Bytes(cluster_.state), before);
}

TEST_F(DeletionTest, ANameThenMeansTheNewestJobThatIsLeft) {
  const int64_t first = EndedJob("job", cluster_);
  EndedJob("other", cluster_);
  const int64_t second = EndedJob("job", cluster_);
  cluster_.Do(Deletion("job"));
  EXPECT_FALSE(cluster_.state.jobs.contains(second));
  EXPECT_EQ(FindJob(cluster_.state, "job").value(), first);
  const ClusterState again = FromSnapshot(ToSnapshot(cluster_.state, 1));
  EXPECT_EQ(DifferentIndexes(again, cluster_.state), "");
  cluster_.Do(Deletion("job"));
  EXPECT_TRUE(absl::IsNotFound(FindJob(cluster_.state, "job").status()));
}

TEST_F(DeletionTest, WaitsForANodeThatMayStillRunTheJob) {
  const int64_t job = cluster_.Submit("job", 1, 2);
  cluster_.RunJob(job);
  cluster_.Stop(job);
  cluster_.StopHeartbeats("a");
  cluster_.Pass(700'000);
  ASSERT_EQ(cluster_.StateOf(job), v1::JOB_STATE_STOPPED);
  const absl::Status refused = cluster_.Try(Deletion(job));
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_THAT(refused.message(), HasSubstr("node a"));
}

TEST_F(DeletionTest, TheEventSaysWhetherItsUserIsVerified) {
  DeleteJob deletion = Deletion(EndedJob("job", cluster_));
  const auto event = [&] {
    return Decide(cluster_.state, deletion, cluster_.options, cluster_.now)->at(0);
  };
  EXPECT_EQ(event().actor(), "user ada");
  EXPECT_EQ(event().time_ms(), cluster_.now);
  EXPECT_FALSE(event().actor_verified());
  deletion.principal.verification = Verification::kPeerCredentials;
  EXPECT_TRUE(event().actor_verified());
  deletion.principal = ControllerPrincipal();
  EXPECT_EQ(event().actor(), "controller");
  EXPECT_FALSE(event().actor_verified()) << "no user asked for it";
}

class CheckpointDeletionTest : public DeletionTest {
 protected:
  CheckpointDeletionTest() {
    cluster_.options.checkpoint_root = "/shared/ckpt";
    job_ = EndedJob("job", cluster_);
    Entry().job.mutable_spec()->mutable_checkpoint()->set_dir(own_);
  }

  JobEntry& Entry() { return cluster_.state.jobs.at(job_); }
  void AddCheckpoint(const std::string& path) { Entry().job.add_checkpoints()->set_path(path); }
  CheckpointsOfDeletion Sorted() {
    return SortCheckpoints(cluster_.state, Entry(), cluster_.options);
  }

  int64_t job_ = 0;
  const std::string own_ = "/shared/ckpt/1-job";
};

TEST_F(CheckpointDeletionTest, OnlyDirectoriesWithinTheJobsOwnMayGo) {
  AddCheckpoint(own_ + "/step-1");
  AddCheckpoint(own_ + "//step-1/.");
  AddCheckpoint(own_ + "/../2-job/step-1");
  AddCheckpoint(own_);
  AddCheckpoint("/etc");
  const CheckpointsOfDeletion sorted = Sorted();
  EXPECT_EQ(sorted.removable.front(), own_ + "/step-1");
  for (const std::string& path : sorted.removable) {
    EXPECT_TRUE(path.starts_with(own_ + "/step-1")) << path;
  }
  EXPECT_EQ(sorted.kept.size(), 3U);
}

TEST_F(CheckpointDeletionTest, ADirectoryThatTheJobFileChoseStays) {
  Entry().job.mutable_spec()->mutable_checkpoint()->set_dir("/home/ada/run");
  AddCheckpoint("/home/ada/run/step-1");
  EXPECT_THAT(Sorted().removable, IsEmpty());
  EXPECT_THAT(Sorted().kept.front().reason(), HasSubstr("by hand"));
}

TEST_F(CheckpointDeletionTest, ADirectoryThatAnotherJobUsesStays) {
  AddCheckpoint(own_ + "/step-1");
  const int64_t other = cluster_.Submit("other", 1, 2);
  auto& checkpoint = *cluster_.state.jobs.at(other).job.mutable_spec()->mutable_checkpoint();
  for (const std::string& source : {own_, own_ + "/", own_ + "/step-1"}) {
    checkpoint.set_resume_from(source);
    EXPECT_THAT(Sorted().removable, IsEmpty()) << source;
  }
  checkpoint.set_resume_from("");
  EXPECT_THAT(Sorted().removable, ElementsAre(own_ + "/step-1"));
  checkpoint.set_dir(own_);
  EXPECT_THAT(Sorted().removable, IsEmpty());
}

TEST_F(CheckpointDeletionTest, ADirectoryInWhichAnotherJobSavesStays) {
  AddCheckpoint(own_ + "/step-1");
  const int64_t other = cluster_.Submit("other", 1, 2);
  auto& checkpoint = *cluster_.state.jobs.at(other).job.mutable_spec()->mutable_checkpoint();
  checkpoint.set_dir(own_ + "/step-1/../mine");
  EXPECT_THAT(Sorted().removable, IsEmpty());
  checkpoint.set_dir(own_ + "-2/mine");
  EXPECT_THAT(Sorted().removable, ElementsAre(own_ + "/step-1"));
}

TEST_F(CheckpointDeletionTest, NamesTheDirectoriesOfAllOtherJobs) {
  const int64_t other = cluster_.Submit("other", 1, 2);
  auto& job = cluster_.state.jobs.at(other).job;
  job.mutable_spec()->mutable_checkpoint()->set_dir("/a/./b/");
  job.mutable_spec()->mutable_checkpoint()->set_resume_from("/c/step-1");
  const auto paths = [&] {
    std::vector<std::string> found;
    for (const DirectoryOfJob& one : DirectoriesOfOthers(cluster_.state, job_)) {
      EXPECT_EQ(one.job_id, other);
      found.push_back(one.path);
    }
    return found;
  };
  EXPECT_THAT(paths(), ElementsAre("/a/b", "/c/step-1"));
  job.set_state(v1::JOB_STATE_FAILED);
  EXPECT_THAT(paths(), ElementsAre("/a/b")) << "an ended job starts from nothing";
}

TEST_F(CheckpointDeletionTest, APathThatMayNotGoIsRefused) {
  AddCheckpoint(own_ + "/step-1");
  AddCheckpoint("/etc");
  EXPECT_TRUE(absl::IsInvalidArgument(cluster_.Try(Deletion(absl::StrCat(job_), {"/etc"}))));
  const auto events = cluster_.Do(Deletion(absl::StrCat(job_), {own_ + "/step-1"}));
  EXPECT_THAT(events.front().job_deleted().checkpoints(), ElementsAre(own_ + "/step-1"));
}

TEST_F(CheckpointDeletionTest, EachDirectoryIsNamedOnceAndDeletedOnesAreNot) {
  AddCheckpoint(own_ + "/s");
  AddCheckpoint(own_ + "//s/.");
  AddCheckpoint(own_ + "/gone");
  Entry().job.mutable_checkpoints(2)->set_deleted(true);
  AddCheckpoint("/etc");
  EXPECT_THAT(Sorted().removable, ElementsAre(own_ + "/s"));
  ASSERT_EQ(Sorted().kept.size(), 1u);
  EXPECT_EQ(Sorted().kept.front().path(), "/etc");
  EXPECT_EQ(Sorted().kept.front().reason(),
            "this checkpoint is outside the job's directory; remove the checkpoint by hand");
}

}  // namespace
}  // namespace trainyard::controller
