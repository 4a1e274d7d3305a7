#include "worker/checkpoint_scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/worker/spool/temporary_dir.h"

namespace trainyard::worker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CheckpointScanTest : public testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text = "weights") {
    std::filesystem::create_directories(std::filesystem::path(dir_.File(path)).parent_path());
    WriteText(dir_.File(path), text);
  }

  std::vector<WatchedEntry> Entries(const std::string& pattern) {
    auto found = CheckpointScan(dir_.path(), pattern).Find([](const auto&) { return false; });
    EXPECT_TRUE(found.ok()) << found.status();
    std::ranges::sort(*found, {}, &WatchedEntry::path);
    return *found;
  }

  std::vector<std::string> Names(const std::string& pattern) {
    std::vector<std::string> names;
    for (const WatchedEntry& entry : Entries(pattern)) names.push_back(entry.path);
    return names;
  }

  TemporaryDir dir_;
};

TEST_F(CheckpointScanTest, FindsFilesAndDirectoriesThatMatchEveryPart) {
  Write("ckpt_1.pt");
  Write("ckpt_2.pt.tmp");
  Write("ckpt_3.pth");
  Write("run/step-5/model.distcp", "12345");
  Write("run/step-5/.metadata", "678");
  Write("run/other/x");
  EXPECT_THAT(Names("ckpt_*.pt"), ElementsAre("ckpt_1.pt"));
  EXPECT_THAT(Names("ckpt_*"), ElementsAre("ckpt_1.pt", "ckpt_3.pth"));
  EXPECT_THAT(Names("*/step-[0-9]*"), ElementsAre("run/step-5"));
  EXPECT_THAT(Names("none/*"), IsEmpty());
  const WatchedEntry entry = Entries("run/step-*").front();
  EXPECT_EQ(entry.bytes, 8);
  EXPECT_GT(entry.own_modified_ns, 0);
  EXPECT_GE(entry.modified_ns, entry.own_modified_ns);
  EXPECT_FALSE(entry.in_progress);
}

TEST_F(CheckpointScanTest, DirectoryWithATemporaryFileIsInProgress) {
  Write("step-5/model.distcp");
  Write("step-5/rank1/.model.bin.x7Kq");
  EXPECT_TRUE(Entries("step-*").front().in_progress);
}

TEST_F(CheckpointScanTest, LinksAreNeitherMatchedNorFollowed) {
  const TemporaryDir other;
  WriteText(other.File("ckpt_9.pt"), "x");
  Write("ckpt_1.pt");
  std::filesystem::create_symlink(other.File("ckpt_9.pt"), dir_.File("ckpt_9.pt"));
  std::filesystem::create_directory_symlink(other.path(), dir_.File("away"));
  std::filesystem::create_directory_symlink(dir_.path(), dir_.File("loop"));
  EXPECT_THAT(Names("ckpt_*.pt"), ElementsAre("ckpt_1.pt"));
  EXPECT_THAT(Names("*/ckpt_*.pt"), IsEmpty());
}

TEST_F(CheckpointScanTest, RecordedDirectoriesAreNotRead) {
  Write("step-5/model.distcp");
  const auto found = CheckpointScan(dir_.path(), "step-*").Find([](const auto&) { return true; });
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(found->front().unmeasured);
  EXPECT_EQ(found->front().bytes, 0);
}

TEST_F(CheckpointScanTest, MissingDirectoryIsAnErrorAndNotAnEmptyOne) {
  const auto found = CheckpointScan(dir_.File("none"), "*").Find([](const auto&) { return false; });
  EXPECT_TRUE(absl::IsNotFound(found.status()));
  EXPECT_THAT(std::string(found.status().message()), HasSubstr(dir_.File("none")));
}

TEST_F(CheckpointScanTest, RemovesOnlyWhatThePatternMatches) {
  const TemporaryDir other;
  WriteText(other.File("ckpt_1.pt"), "x");
  Write("ckpt_1.pt");
  Write("keep.txt");
  Write("step-5/a/b");
  std::filesystem::create_directory_symlink(other.path(), dir_.File("away"));
  const CheckpointScan scan(dir_.path(), "ckpt_*.pt");
  EXPECT_TRUE(absl::IsFailedPrecondition(scan.Remove("keep.txt")));
  EXPECT_TRUE(absl::IsFailedPrecondition(scan.Remove("away/ckpt_1.pt")));
  EXPECT_TRUE(absl::IsFailedPrecondition(scan.Remove("../ckpt_1.pt")));
  EXPECT_FALSE(CheckpointScan(dir_.path(), "*/ckpt_*.pt").Remove("away/ckpt_1.pt").ok());
  EXPECT_EQ(scan.Remove("ckpt_1.pt"), absl::OkStatus());
  EXPECT_EQ(CheckpointScan(dir_.path(), "step-*").Remove("step-5"), absl::OkStatus());
  EXPECT_THAT(Names("*"), ElementsAre("keep.txt"));
  EXPECT_EQ(ReadText(other.File("ckpt_1.pt")), "x");
}

TEST(IsTemporaryNameTest, KnowsTheNamesThatProgramsUse) {
  for (const char* name : {"a.pt.tmp", "a.part", "tmp-checkpoint-5", ".a.pt.x7Kq", "a.tmp.123",
                           "a.incomplete", "a~"}) {
    EXPECT_TRUE(IsTemporaryName(name)) << name;
  }
  for (const char* name : {"a.pt", ".metadata", "checkpoint-500", "template.pt"}) {
    EXPECT_FALSE(IsTemporaryName(name)) << name;
  }
}

TEST(MarkWrittenTest, MarksTheFileAndTheDirectoriesAboveIt) {
  std::vector<WatchedEntry> entries(3);
  entries[0].path = "a.pt";
  entries[1].path = "step-5";
  entries[2].path = "step-50";
  MarkWritten({"a.pt", "step-5/x/model"}, entries);
  EXPECT_TRUE(entries[0].in_progress);
  EXPECT_TRUE(entries[1].in_progress);
  EXPECT_FALSE(entries[2].in_progress);
}

}  // namespace
}  // namespace trainyard::worker
