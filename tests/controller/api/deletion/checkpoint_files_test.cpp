#include "controller/api/deletion/checkpoint_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/fakes/temporary_directory.h"

namespace trainyard::controller {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CheckpointFilesTest : public testing::Test {
 protected:
  CheckpointFilesTest() {
    for (const fs::path& job : {job_, live_}) {
      for (const char* step : {"step-1", "step-2"}) MakeCheckpoint(job / step);
    }
  }

  static void MakeCheckpoint(const fs::path& path) {
    fs::create_directories(path);
    std::ofstream(path / "manifest.json") << "{}";
    std::ofstream(path / "weights") << "w";
  }
  static void Link(const fs::path& target, const fs::path& link) {
    fs::remove_all(link);
    fs::create_directory_symlink(target, link);
  }
  void ExpectLiveUntouched() const {
    for (const char* step : {"step-1", "step-2"}) {
      EXPECT_TRUE(fs::exists(live_ / step / "manifest.json")) << step;
      EXPECT_TRUE(fs::exists(live_ / step / "weights")) << step;
    }
  }
  absl::Status Remove(const fs::path& path) const { return RemoveCheckpoint(path, root_, others_); }
  // Returns the reason why the checkpoint is kept; "" if it would be removed. Sets `removable_`.
  std::string Inspect(const fs::path& path) {
    CheckpointsOfDeletion sorted{.removable = {path}, .kept = {}};
    removable_ = InspectCheckpoints(root_, others_, sorted);
    EXPECT_EQ(sorted.removable.size() + sorted.kept.size(), 1U);
    EXPECT_EQ(sorted.removable.size(), removable_.size());
    return sorted.kept.empty() ? "" : sorted.kept.front().reason();
  }

  TemporaryDirectory directory_;
  const fs::path root_ = fs::path(directory_.path()) / "ckpt";
  const fs::path job_ = root_ / "1-job";
  const fs::path live_ = root_ / "9-live";
  std::vector<DirectoryOfJob> others_ = {{9, live_}};
  std::vector<v1::RemovableCheckpoint> removable_;
};

TEST_F(CheckpointFilesTest, RemovesOneCheckpointAndThenTheEmptyDirectory) {
  ASSERT_TRUE(Remove(job_ / "step-1").ok());
  EXPECT_FALSE(fs::exists(job_ / "step-1"));
  EXPECT_TRUE(fs::exists(job_ / "step-2" / "weights"));
  EXPECT_TRUE(Remove(job_ / "step-1").ok()) << "gone already";
  ASSERT_TRUE(Remove(job_ / "step-2").ok());
  EXPECT_FALSE(fs::exists(job_));
  EXPECT_TRUE(fs::exists(root_));
  ExpectLiveUntouched();
}

TEST_F(CheckpointFilesTest, ShowsWhatGoesByItsRealPathAndSize) {
  fs::create_directories(job_ / "step-1" / "deep");
  std::ofstream(job_ / "step-1" / "deep" / "more") << "12345";
  fs::create_symlink(live_ / "step-1" / "weights", job_ / "step-1" / "alias");
  const fs::path link = fs::path(directory_.path()) / "alias";
  fs::create_directory_symlink(root_, link);
  CheckpointsOfDeletion sorted{.removable = {link / "1-job" / "step-1"}, .kept = {}};
  const auto removable = InspectCheckpoints(link, others_, sorted);
  ASSERT_EQ(removable.size(), 1U) << "the root may be a link";
  EXPECT_EQ(removable.front().real_path(), (fs::canonical(job_) / "step-1").string());
  EXPECT_EQ(removable.front().bytes(), 2 + 1 + 5) << "a link counts nothing";
  EXPECT_EQ(removable.front().entries(), 5);
  EXPECT_FALSE(removable.front().more());
}

TEST_F(CheckpointFilesTest, LeavesWhatThisMachineDoesNotSee) {
  CheckpointsOfDeletion sorted{.removable = {job_ / "step-1", job_ / "step-7"}, .kept = {}};
  EXPECT_EQ(InspectCheckpoints(root_, others_, sorted).size(), 1U);
  EXPECT_EQ(sorted.removable, std::vector<std::string>{job_ / "step-1"});
  ASSERT_EQ(sorted.kept.size(), 1U);
  EXPECT_EQ(sorted.kept.front().path(), job_ / "step-7");
  EXPECT_THAT(sorted.kept.front().reason(), HasSubstr("cannot see"));
}

TEST_F(CheckpointFilesTest, ALinkInThePlaceOfTheJobsDirectoryIsNotFollowed) {
  const fs::path outside = fs::path(directory_.path()) / "home";
  MakeCheckpoint(outside / "step-1");
  for (const fs::path& target : {live_, outside}) {
    Link(target, job_);
    EXPECT_THAT(Inspect(job_ / "step-1"),
                HasSubstr(job_.string() + " is a symbolic link to " + target.string()));
    EXPECT_TRUE(absl::IsFailedPrecondition(Remove(job_ / "step-1")));
    EXPECT_TRUE(fs::exists(target / "step-1" / "weights"));
    EXPECT_TRUE(fs::is_symlink(job_));
  }
  ExpectLiveUntouched();
}

TEST_F(CheckpointFilesTest, ALinkInThePlaceOfACheckpointGoesAndItsTargetStays) {
  Link(live_ / "step-1", job_ / "step-1");
  EXPECT_EQ(Inspect(job_ / "step-1"), "");
  EXPECT_EQ(removable_.front().link_target(), (live_ / "step-1").string());
  EXPECT_EQ(removable_.front().bytes(), 0);
  EXPECT_TRUE(Remove(job_ / "step-1").ok());
  EXPECT_FALSE(fs::is_symlink(job_ / "step-1"));
  ExpectLiveUntouched();
}

TEST_F(CheckpointFilesTest, LinksWithinACheckpointAndOnTheWayToItAreNotFollowed) {
  fs::create_directory_symlink(live_, job_ / "step-1" / "live");
  fs::create_symlink(live_ / "step-2" / "weights", job_ / "step-1" / "alias");
  fs::create_directory_symlink(live_, job_ / "way");
  EXPECT_THAT(Inspect(job_ / "way" / "step-1"), HasSubstr("is a symbolic link to"));
  EXPECT_TRUE(absl::IsFailedPrecondition(Remove(job_ / "way" / "step-1")));
  EXPECT_TRUE(Remove(job_ / "step-1").ok());
  EXPECT_FALSE(fs::exists(job_ / "step-1"));
  ExpectLiveUntouched();
}

TEST_F(CheckpointFilesTest, AnotherJobsDirectoryIsKnownByItsInode) {
  const fs::path alias = fs::path(directory_.path()) / "alias";
  fs::create_directory_symlink(job_, alias);
  const fs::path second = fs::path(directory_.path()) / "second";
  fs::create_directory_symlink(alias, second);
  for (const fs::path& used : {alias, second, second / "step-2", alias / "not" / "there"}) {
    others_ = {{9, used}};
    EXPECT_THAT(Inspect(job_ / "step-1"), HasSubstr("job 9 uses the same directory")) << used;
    EXPECT_TRUE(absl::IsFailedPrecondition(Remove(job_ / "step-1"))) << used;
    EXPECT_TRUE(fs::exists(job_ / "step-1" / "weights")) << used;
  }
  others_ = {{9, root_}, {8, "/none/such"}, {7, ""}};
  EXPECT_EQ(Inspect(job_ / "step-1"), "") << "the root is no job's directory";
}

TEST_F(CheckpointFilesTest, TheClaimOfALiveJobKeepsTheDirectory) {
  std::ofstream(job_ / "ATTEMPT.1.4") << "";
  EXPECT_EQ(Inspect(job_ / "step-1"), "");
  std::ofstream(job_ / "ATTEMPT.8.1") << "";
  EXPECT_EQ(Inspect(job_ / "step-1"), "") << "job 8 is gone";
  std::ofstream(job_ / "ATTEMPT.9.1.2") << "";
  EXPECT_THAT(Inspect(job_ / "step-1"), HasSubstr("job 9 uses the same directory"));
  EXPECT_TRUE(absl::IsFailedPrecondition(Remove(job_ / "step-1")));
}

TEST_F(CheckpointFilesTest, WhatIsNoCheckpointDirectoryStays) {
  std::ofstream(job_ / "file") << "f";
  EXPECT_THAT(Inspect(job_ / "file"), HasSubstr("is not a directory"));
  EXPECT_TRUE(absl::IsFailedPrecondition(Remove(job_ / "file")));
  EXPECT_TRUE(absl::IsFailedPrecondition(Remove(job_)));
  EXPECT_TRUE(absl::IsFailedPrecondition(Remove(root_ / ".." / "other" / "step-1")));
  EXPECT_TRUE(fs::exists(job_ / "step-1" / "weights"));
}

TEST_F(CheckpointFilesTest, AMountOfTheSameDiskIsNotEntered) {
  bool is_mounted = false;
  // The thread has its own mount namespace. The namespace ends with the thread.
  std::thread([&] {
    is_mounted =
        unshare(CLONE_NEWNS) == 0 && mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
        mount((live_ / "step-1").c_str(), (job_ / "step-1").c_str(), nullptr, MS_BIND, nullptr) ==
            0;
    if (!is_mounted) return;
    EXPECT_THAT(Inspect(job_ / "step-1"), HasSubstr("is mounted at"));
    EXPECT_TRUE(absl::IsFailedPrecondition(Remove(job_ / "step-1")));
    fs::create_directories(job_ / "step-2" / "deep");
    is_mounted =
        mount(live_.c_str(), (job_ / "step-2" / "deep").c_str(), nullptr, MS_BIND, nullptr) == 0;
    const absl::Status below = Remove(job_ / "step-2");
    EXPECT_TRUE(absl::IsUnavailable(below));
    EXPECT_THAT(below.message(), HasSubstr("something is mounted below it"));
  }).join();
  ExpectLiveUntouched();
  if (!is_mounted) GTEST_SKIP() << "mounts need privileges";
}

}  // namespace
}  // namespace trainyard::controller
