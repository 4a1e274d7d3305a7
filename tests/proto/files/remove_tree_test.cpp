// Tests removals that the owner of the files tries to prevent.
// tests/proto/support/remove_tree_test.cpp tests the other properties.
#include "proto/files/remove_tree.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>

namespace trainyard {
namespace {

namespace fs = std::filesystem;

// A temporary directory, removed at the end of the test without using the code under test.
class TemporaryDirectory {
 public:
  TemporaryDirectory() : path_(testing::TempDir() + "/remove_tree_XXXXXX") {
    EXPECT_NE(mkdtemp(path_.data()), nullptr);
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

void Write(const std::string& path) { std::ofstream(path) << "text"; }

TEST(ContractRemoveTreeTest, RemovesAnEntryOfAnOpenDirectoryThatHasAnotherNameByNow) {
  const TemporaryDirectory directory;
  fs::create_directories(directory.File("own/step/deep"));
  Write(directory.File("own/step/deep/file"));
  fs::create_directories(directory.File("other/step"));
  Write(directory.File("other/step/file"));
  const UniqueFd own(open(directory.File("own").c_str(), O_PATH | O_DIRECTORY));
  fs::rename(directory.File("own"), directory.File("moved"));
  fs::create_directory_symlink(directory.File("other"), directory.File("own"));
  EXPECT_FALSE(RemoveEntry(own.get(), "step", "own/step").has_value());
  EXPECT_FALSE(fs::exists(directory.File("moved/step")));
  EXPECT_TRUE(fs::exists(directory.File("other/step/file")));
}

TEST(ContractRemoveTreeTest, ADirectoryExchangedForALinkAllTheTimeLeadsNowhere) {
  const TemporaryDirectory directory;
  fs::create_directories(directory.File("precious"));
  Write(directory.File("precious/file"));
  const fs::perms read_only = fs::perms::owner_read | fs::perms::owner_exec;
  fs::permissions(directory.File("precious"), read_only);
  const std::string tree = directory.File("tree");
  const std::string link = directory.File("link"), target = directory.File("precious");
  std::atomic<bool> stop = false;
  std::thread swapper([&] {
    while (!stop) {
      mkdir(tree.c_str(), 0500);
      rmdir(link.c_str());
      (void)!symlink(target.c_str(), link.c_str());
      renameat2(AT_FDCWD, tree.c_str(), AT_FDCWD, link.c_str(), RENAME_EXCHANGE);
    }
  });
  for (int i = 0; i < 20'000; ++i) (void)RemoveEntry(tree);
  stop = true;
  swapper.join();
  EXPECT_TRUE(fs::exists(directory.File("precious/file")));
  EXPECT_EQ(fs::status(target).permissions(), read_only) << "no mode is changed through a link";
  fs::permissions(target, fs::perms::owner_all);
}

TEST(ContractRemoveTreeTest, StopsAtItsLimitAndGoesOnWithTheNextCall) {
  const TemporaryDirectory directory;
  fs::create_directories(directory.File("tree"));
  for (int i = 0; i < 10; ++i) Write(directory.File("tree/" + std::to_string(i)));
  const UniqueFd parent(open(directory.path().c_str(), O_PATH | O_DIRECTORY));
  const FileResult stopped = RemoveEntry(parent.get(), "tree", "tree", 4);
  ASSERT_TRUE(stopped.has_value());
  EXPECT_EQ(stopped->number, EAGAIN);
  EXPECT_EQ(std::distance(fs::directory_iterator(directory.File("tree")), {}), 6);
  EXPECT_FALSE(RemoveEntry(parent.get(), "tree", "tree").has_value());
  EXPECT_FALSE(fs::exists(directory.File("tree")));
}

TEST(ContractRemoveTreeTest, AMountIsNotEnteredAndNamesItself) {
  const UniqueFd root(open("/", O_PATH | O_DIRECTORY));
  const FileResult refused = RemoveEntry(root.get(), "proc", "/proc");
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->number, EBUSY);
  EXPECT_EQ(refused->action, "cannot remove /proc");
}

TEST(ContractRemoveTreeTest, ALinkOnThePathIsNamed) {
  const TemporaryDirectory directory;
  fs::create_directories(directory.File("other"));
  fs::create_directory_symlink(directory.File("other"), directory.File("link"));
  EXPECT_EQ(
      LinkNote(directory.File("link/step/manifest.json")),
      " (" + directory.File("link") + " is a symbolic link to " + directory.File("other") + ")");
  EXPECT_EQ(LinkNote(directory.File("other/step")), "");
  EXPECT_EQ(LinkNote(""), "");
}

}  // namespace
}  // namespace trainyard
