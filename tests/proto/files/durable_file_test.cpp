#include "proto/files/durable_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace trainyard {
namespace {

// Tests proto/files/durable_file.h. The wrapper in proto/support has its own DurableFileTest.
class ContractDurableFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "durable-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  std::string Path(const std::string& name) const { return directory_ + "/" + name; }
  std::string Text(const std::string& name) const {
    std::ifstream file(Path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  mode_t Mode(const std::string& name) const {
    struct stat status {};
    EXPECT_EQ(stat(Path(name).c_str(), &status), 0);
    return status.st_mode & 0777;
  }

 private:
  std::string directory_;
};

TEST_F(ContractDurableFileTest, ReplacesTheWholeFile) {
  ASSERT_FALSE(WriteFileAtomically(Path("file"), "a longer text", {.mode = 0640}).has_value());
  ASSERT_FALSE(WriteFileAtomically(Path("file"), "short", {.mode = 0640}).has_value());
  EXPECT_EQ(Text("file"), "short");
  // umask(2) can return the current mask only by setting a new mask.
  EXPECT_EQ(
      Mode("file"), 0640 & ~[] {
        const mode_t mask = umask(0);
        umask(mask);
        return mask;
      }());
  EXPECT_NE(access(Path("file.tmp").c_str(), F_OK), 0);
}

TEST_F(ContractDurableFileTest, AFileGrowsPieceByPiece) {
  DurableFile file;
  ASSERT_FALSE(file.CreateNew(Path("file"), {.mode = 0600}).has_value());
  ASSERT_FALSE(file.Append("one ").has_value());
  ASSERT_FALSE(file.Append("two").has_value());
  ASSERT_FALSE(file.Finish().has_value());
  EXPECT_EQ(Text("file"), "one two");
  const FileResult exists = DurableFile().CreateNew(Path("file"), {.mode = 0600});
  ASSERT_TRUE(exists.has_value());
  EXPECT_EQ(exists->number, EEXIST);
  EXPECT_EQ(exists->action, "cannot create " + Path("file"));
  ASSERT_FALSE(DurableFile().Create(Path("file"), {.mode = 0600}).has_value());
  EXPECT_EQ(Text("file"), "") << "emptied";
}

TEST_F(ContractDurableFileTest, WritesPiecesInOrder) {
  ASSERT_FALSE(WriteFileDurably(Path("file"), {"one ", "", "two"}, {.mode = 0600}).has_value());
  EXPECT_EQ(Text("file"), "one two");
}

TEST_F(ContractDurableFileTest, ReservedSpaceIsNotPartOfTheWrittenFile) {
  ASSERT_FALSE(ReserveAtomicFile(Path("file"), 10'000, {.mode = 0600}).has_value());
  ASSERT_FALSE(WriteFileAtomically(Path("file"), "text", {.mode = 0600}).has_value());
  EXPECT_EQ(Text("file"), "text");
}

TEST_F(ContractDurableFileTest, SaysWhichCallFailedOnWhichPath) {
  const FileResult failed = WriteFileAtomically(Path("missing/file"), "text", {.mode = 0600});
  ASSERT_TRUE(failed.has_value());
  EXPECT_EQ(failed->number, ENOENT);
  EXPECT_EQ(failed->action, "cannot create " + Path("missing/file.tmp"));
  EXPECT_EQ(SyncDirectory(Path("missing"))->number, ENOENT);
}

// If the link were followed, anyone who can create a link named PATH.tmp could choose which file is
// overwritten.
TEST_F(ContractDurableFileTest, DoesNotFollowASymbolicLinkAtTheTemporaryPath) {
  ASSERT_EQ(symlink("/dev/null", Path("file.tmp").c_str()), 0);
  EXPECT_EQ(WriteFileAtomically(Path("file"), "text", {.mode = 0600})->number, ELOOP);
}

TEST_F(ContractDurableFileTest, DirectoryOfAPathOrABareName) {
  EXPECT_EQ(DirectoryOf("/a/b"), "/a/");
  EXPECT_EQ(DirectoryOf("b"), ".");
}

TEST_F(ContractDurableFileTest, TwoDirectoriesExchangeTheirNames) {
  std::filesystem::create_directories(Path("new/data"));
  std::filesystem::create_directories(Path("old/former"));
  EXPECT_FALSE(ReplaceDirectory(Path("new"), Path("old")).has_value());
  EXPECT_TRUE(std::filesystem::exists(Path("old/data")));
  EXPECT_TRUE(std::filesystem::exists(Path("new/former")));
  EXPECT_FALSE(ExchangeByRenames(Path("new"), Path("old")).has_value());
  EXPECT_TRUE(std::filesystem::exists(Path("old/former")));
  EXPECT_TRUE(std::filesystem::exists(Path("new/data")));
  EXPECT_FALSE(std::filesystem::exists(Path("new-old")));
}

TEST_F(ContractDurableFileTest, AFailedExchangeLeavesTheTarget) {
  std::filesystem::create_directories(Path("old/former"));
  EXPECT_TRUE(ExchangeByRenames(Path("none"), Path("old")).has_value());
  EXPECT_TRUE(std::filesystem::exists(Path("old/former")));
}

}  // namespace
}  // namespace trainyard
