#include "proto/support/remove_tree.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/hung_file_system.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class RemoveTreeTest : public testing::Test {
 protected:
  RemoveTreeTest() {
    std::string name = testing::TempDir() + "/remove_tree_XXXXXX";
    root_ = mkdtemp(name.data());
  }
  ~RemoveTreeTest() override {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }

  std::string File(const std::string& name) const { return absl::StrCat(root_, "/", name); }
  static void Write(const std::string& path) { std::ofstream(path) << "text"; }

  std::string root_;
};

TEST_F(RemoveTreeTest, RemovesFilesDirectoriesAndLinksButNotWhatLinksNames) {
  fs::create_directories(File("tree/a/b/c"));
  fs::create_directories(File("tree/.1/.2"));
  fs::create_directories(File("other"));
  Write(File("tree/a/b/c/file"));
  Write(File("tree/.3"));
  Write(File("other/file"));
  fs::create_directory_symlink(File("other"), File("tree/a/link"));
  ASSERT_EQ(mkfifo(File("tree/a/fifo").c_str(), 0600), 0);
  EXPECT_TRUE(RemoveTree(File("tree")).ok());
  EXPECT_FALSE(fs::exists(File("tree")));
  EXPECT_TRUE(fs::exists(File("other/file")));
}

TEST_F(RemoveTreeTest, ALinkOrAFileIsRemovedItselfAndNothingIsFine) {
  fs::create_directories(File("other"));
  fs::create_directory_symlink(File("other"), File("link"));
  EXPECT_TRUE(RemoveTree(File("link")).ok());
  EXPECT_FALSE(fs::is_symlink(File("link")));
  EXPECT_TRUE(fs::exists(File("other")));
  EXPECT_TRUE(RemoveTree(File("missing")).ok());
}

TEST_F(RemoveTreeTest, NoDepthNeedsDescriptorsForEachLevel) {
  const std::string name(100, 'x');
  fs::create_directories(File("tree"));
  int directory = open(File("tree").c_str(), O_RDONLY | O_DIRECTORY);
  // The tree is deeper than the maximum path length, and deeper than the number of files that this
  // process may open.
  for (int level = 0; level < 60; ++level) {
    ASSERT_EQ(mkdirat(directory, name.c_str(), 0700), 0);
    const int next = openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY);
    ASSERT_GE(next, 0);
    close(directory);
    directory = next;
  }
  close(directory);
  rlimit files = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
  const rlimit few = {.rlim_cur = 40, .rlim_max = files.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  EXPECT_TRUE(RemoveTree(File("tree")).ok());
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
  EXPECT_FALSE(fs::exists(File("tree")));
}

// Removes the tree in a separate mount namespace. Returns the text of the error, or "skip" if
// mounting is not possible.
std::string RemoveWithMount(const std::string& tree, const std::string& mounted,
                            const std::string& at) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    std::string text = "skip";
    const bool is_mounted = unshare(CLONE_NEWNS) == 0 &&
                            mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                            mount(mounted.c_str(), at.c_str(), nullptr, MS_BIND, nullptr) == 0;
    if (is_mounted) text = std::string(RemoveTree(tree).message());
    _exit(write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string text(4096, '\0');
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(read(ends[0], text.data(), 4096), 0)));
  close(ends[0]);
  waitpid(pid, nullptr, 0);
  return text;
}

TEST_F(RemoveTreeTest, WhatIsMountedBelowStaysUntouchedAndTheRestGoes) {
  for (const char* at : {"tree/data", "tree/a/b/data"}) {
    fs::create_directories(File(at));
    fs::create_directories(File("precious/deep"));
    Write(File("precious/deep/file"));
    Write(File("tree/file"));
    const std::string text = RemoveWithMount(File("tree"), File("precious"), File(at));
    if (text == "skip") GTEST_SKIP() << "mounts need privileges";
    EXPECT_THAT(text, HasSubstr("something is mounted below it"));
    EXPECT_TRUE(fs::exists(File("precious/deep/file"))) << at;
    EXPECT_FALSE(fs::exists(File("tree/file")));
    EXPECT_TRUE(RemoveTree(File("tree")).ok()) << "the mount is gone with its namespace";
    EXPECT_FALSE(fs::exists(File("tree")));
  }
}

TEST_F(RemoveTreeTest, AsksNoFileSystemThatHangs) {
  TemporaryDirectory directory;
  std::filesystem::create_directories(directory.File("tree/hung"));
  std::filesystem::create_directories(directory.File("tree/more"));
  {
    const HungFileSystem hung(directory.File("tree/hung"));
    if (!hung.mounted()) GTEST_SKIP() << HungFileSystem::kSkipped;
    EXPECT_FALSE(RemoveTree(directory.File("tree")).ok());
    EXPECT_FALSE(std::filesystem::exists(directory.File("tree/more")));
  }
  EXPECT_EQ(RemoveTree(directory.File("tree")), absl::OkStatus());
}

}  // namespace
}  // namespace trainyard
