// Tests links between the checkpoint directories of jobs, with the real programs. Deleting a job
// must not delete the checkpoints of a live job.
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Three jobs. Two jobs have ended. The third trains and saves until the test ends.
class LinksTest : public testing::Test {
 protected:
  LinksTest() {
    ended_ = cluster_.Submit(cluster_.WriteJob("ended", TinyJob("ended", tokens_, 1, 60)));
    later_ = cluster_.Submit(cluster_.WriteJob("later", TinyJob("later", tokens_, 1, 20)));
    for (const int64_t job : {ended_, later_}) {
      EXPECT_EQ(cluster_.WaitForEnd(job).state(), v1::JOB_STATE_SUCCEEDED);
    }
    later_checkpoint_ = Checkpoints(later_).front();
    own_ = fs::path(Checkpoints(ended_).front()).parent_path();
    live_ = cluster_.Submit(cluster_.WriteJob("live", TinyJob("live", tokens_, 1, 1'000'000)));
    EXPECT_TRUE(cluster_.WaitForCheckpoint(live_, 1)) << cluster_.DaemonLogs();
    // Pauses the live job, because its trainer would otherwise remove its oldest checkpoints.
    EXPECT_EQ(cluster_.Cli({"pause", absl::StrCat(live_)}).exit_code, 0);
    EXPECT_TRUE(Eventually([&] { return cluster_.Job(live_).state() == v1::JOB_STATE_PAUSED; }));
    kept_ = Checkpoints(live_);
    EXPECT_FALSE(kept_.empty());
    live_own_ = fs::path(kept_.front()).parent_path();
  }
  ~LinksTest() override {
    if (mounted_.empty()) return;
    umount2(mounted_.c_str(), MNT_DETACH);
  }

  std::vector<std::string> Checkpoints(int64_t job) const {
    std::vector<std::string> paths;
    const v1::Job found = cluster_.Job(job);
    for (const v1::Checkpoint& checkpoint : found.checkpoints()) {
      if (!checkpoint.deleted()) paths.push_back(checkpoint.path());
    }
    EXPECT_FALSE(paths.empty());
    return paths;
  }

  // Makes a dry run, then deletes the ended job and its checkpoints. Returns the output of the dry
  // run.
  std::string Delete() {
    const std::string job = absl::StrCat(ended_);
    CommandResult dry, done;
    Eventually([&] {
      dry = cluster_.Cli({"delete", job, "--checkpoints"});
      return dry.exit_code == 0;
    });
    done = cluster_.Cli({"delete", job, "--checkpoints", "--yes"});
    EXPECT_EQ(done.exit_code, 0) << done.error;
    // Deletions are completed in the order in which they were requested. Therefore, once the
    // deletion of the later job is complete, the deletion of this job has been tried.
    EXPECT_TRUE(Eventually([&] {
      return cluster_.Cli({"delete", absl::StrCat(later_), "--checkpoints", "--yes"}).exit_code ==
             0;
    }));
    EXPECT_TRUE(Eventually([&] { return !fs::exists(later_checkpoint_); }))
        << cluster_.DaemonLogs();
    return dry.output;
  }

  // Checks that every checkpoint of the live job is complete, and that the job resumes from one.
  void ExpectLiveWhole() {
    for (const std::string& path : kept_) {
      EXPECT_TRUE(fs::exists(path + "/manifest.json")) << path << "\n" << cluster_.DaemonLogs();
    }
    EXPECT_EQ(cluster_.Cli({"resume", absl::StrCat(live_)}).exit_code, 0);
    const int64_t step = cluster_.Job(live_).progress().step();
    EXPECT_TRUE(cluster_.WaitForStep(live_, step + 1)) << cluster_.DaemonLogs();
  }

  MiniCluster cluster_{1};
  const std::string tokens_ = cluster_.MakeTokens();
  int64_t ended_ = 0, later_ = 0, live_ = 0;
  std::string later_checkpoint_;
  fs::path own_, live_own_;
  std::vector<std::string> kept_;
  fs::path mounted_;
};

TEST_F(LinksTest, AnEndedJobsDirectoryThatIsALinkIntoALiveOneLeadsNoDeletionThere) {
  const std::vector<std::string> listed = Checkpoints(ended_);
  fs::rename(own_, own_.string() + "-former");
  // Through the link, every listed checkpoint of the ended job leads to a complete checkpoint of
  // the live job.
  const fs::path within = live_own_ / "mirror";
  fs::create_directories(within);
  for (const std::string& path : listed) {
    fs::copy(kept_.front(), within / fs::path(path).filename(), fs::copy_options::recursive);
    kept_.push_back((within / fs::path(path).filename()).string());
  }
  fs::create_directory_symlink(within, own_);
  const std::string dry = Delete();
  EXPECT_THAT(dry,
              HasSubstr(absl::StrCat(own_.string(), " is a symbolic link to ", within.string())));
  EXPECT_TRUE(fs::is_symlink(own_));
  ExpectLiveWhole();
}

TEST_F(LinksTest, LinksInACheckpointAndInItsPlaceGoAndTheirTargetsStay) {
  const std::vector<std::string> listed = Checkpoints(ended_);
  ASSERT_GT(listed.size(), 1U);
  fs::create_directory_symlink(live_own_, fs::path(listed.back()) / "nested");
  fs::create_symlink(fs::path(kept_.front()) / "manifest.json", fs::path(listed.back()) / "file");
  fs::remove_all(listed.front());
  fs::create_directory_symlink(kept_.front(), listed.front());
  const std::string dry = Delete();
  EXPECT_THAT(dry,
              HasSubstr(absl::StrCat("removes  the link ", listed.front(),
                                     "; the target of the link, ", kept_.front(), ", is kept")));
  for (const std::string& path : listed) {
    EXPECT_TRUE(Eventually([&] { return !fs::exists(fs::symlink_status(path)); })) << path;
  }
  ExpectLiveWhole();
}

TEST_F(LinksTest, ALiveJobThatReachesTheDirectoryThroughALinkKeepsIt) {
  const std::vector<std::string> listed = Checkpoints(ended_);
  const std::string alias = cluster_.directory() + "/alias";
  fs::create_directory_symlink(own_, alias);
  const std::string file = cluster_.WriteJob(
      "waits", absl::StrCat("name: waits\nresources: {device: cpu}\ncommand: [/bin/true]\n",
                            "checkpoint: {dir: ", alias, "/deeper}\n"));
  const int64_t waits = cluster_.Submit(file, {"--hold"});
  const std::string dry = Delete();
  EXPECT_THAT(dry, HasSubstr(absl::StrCat("job ", waits, " uses the same directory")));
  for (const std::string& path : listed) EXPECT_TRUE(fs::exists(path + "/manifest.json")) << path;
  ExpectLiveWhole();
}

TEST_F(LinksTest, ABindMountInACheckpointsPlaceIsNotEntered) {
  const std::string listed = Checkpoints(ended_).back();
  if (mount(kept_.front().c_str(), listed.c_str(), nullptr, MS_BIND, nullptr) != 0) {
    GTEST_SKIP() << "mounts need privileges";
  }
  mounted_ = listed;
  EXPECT_THAT(Delete(), HasSubstr(absl::StrCat("is mounted at ", listed)));
  ExpectLiveWhole();
}

TEST_F(LinksTest, ACheckpointPathOfTheKernelIsRefused) {
  const std::string file = cluster_.WriteJob(
      "kernel", absl::StrCat("name: kernel\nresources: {device: cpu}\ncommand: [/bin/true]\n",
                             "checkpoint: {dir: /proc/self/root", own_.string(), "}\n"));
  const CommandResult refused = cluster_.Cli({"submit", file});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.error, HasSubstr("use a directory on a disk"));
}

}  // namespace
}  // namespace trainyard::test
