#include "proto/code/tree_walk.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard::code {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class TreeWalkTest : public testing::Test {
 protected:
  void Put(const std::string& path, const std::string& text = "x") {
    std::filesystem::create_directories(std::filesystem::path(root_.File(path)).parent_path());
    WriteFile(root_.File(path), text);
  }
  std::vector<std::string> Paths(const WalkOptions& options = {}) {
    const auto tree = WalkTree(root_.path(), options);
    EXPECT_TRUE(tree.ok()) << tree.status();
    std::vector<std::string> paths;
    if (tree.ok()) {
      for (const FoundFile& file : tree->files) paths.push_back(file.path);
    }
    return paths;
  }
  std::string Error(const WalkOptions& options = {}) {
    return std::string(WalkTree(root_.path(), options).status().message());
  }

  TemporaryDirectory root_;
};

TEST_F(TreeWalkTest, ListsFilesSortedByPath) {
  Put("b/c.py");
  Put("b-/d.py");
  Put("a.py", "text");
  chmod(root_.File("a.py").c_str(), 0755);
  const auto tree = WalkTree(root_.path(), {});
  ASSERT_TRUE(tree.ok()) << tree.status();
  ASSERT_EQ(tree->files.size(), 3U);
  EXPECT_EQ(tree->files[0].path, "a.py");
  EXPECT_EQ(tree->files[0].kind, FileKind::kExecutable);
  EXPECT_EQ(tree->files[0].bytes, 4);
  EXPECT_EQ(tree->files[1].path, "b-/d.py");
  EXPECT_EQ(tree->files[2].path, "b/c.py");
}

TEST_F(TreeWalkTest, NeverTakesTheRepositoryNorBytecode) {
  Put(".git/config");
  Put("sub/.git");
  Put("sub/__pycache__/x.pyc");
  Put("sub/x.py");
  EXPECT_THAT(Paths(), ElementsAre("sub/x.py"));
}

TEST_F(TreeWalkTest, AppliesGitignoreFilesOfAllDirectories) {
  Put(".gitignore", "*.bin\ndata/\n");
  Put("sub/.gitignore", "!keep.bin\n");
  Put("a.bin");
  Put("data/big");
  Put("sub/keep.bin");
  Put("sub/other.bin");
  EXPECT_THAT(Paths(), ElementsAre(".gitignore", "sub/.gitignore", "sub/keep.bin"));
}

TEST_F(TreeWalkTest, CountsOnlyThePatternsThatApplyToADirectory) {
  std::string patterns;
  for (int line = 0; line < 1500; ++line) absl::StrAppend(&patterns, "*.x", line, "\n");
  Put("one/.gitignore", patterns);
  Put("two/.gitignore", patterns);
  EXPECT_THAT(Paths(), ElementsAre("one/.gitignore", "two/.gitignore"));
  Put(".gitignore", patterns);
  EXPECT_THAT(Error(), HasSubstr("more than 2000 patterns (at one/.gitignore)"));
}

TEST_F(TreeWalkTest, ReadsNoGitignoreIfThereIsAnIgnoreFileOfOurs) {
  Put(".gitignore", "*.bin\n");
  Put(".trainyardignore", "*.txt\n.*ignore\n");
  Put("a.bin");
  Put("a.txt");
  EXPECT_THAT(Paths(), ElementsAre("a.bin"));
}

TEST_F(TreeWalkTest, AppliesTheListOfTheJobLast) {
  Put(".gitignore", "*.bin\n");
  Put("a.bin");
  Put("a.py");
  EXPECT_THAT(Paths({.ignore = {"!a.bin", "*.py", ".gitignore"}}), ElementsAre("a.bin"));
}

TEST_F(TreeWalkTest, CountsWhatItLeavesOut) {
  Put(".trainyardignore", "data/\n*.log\n");
  Put("data/x/one", std::string(3000, 'x'));
  Put("data/two", std::string(2000, 'x'));
  Put("a.log", "12345");
  const auto tree = WalkTree(root_.path(), {});
  ASSERT_TRUE(tree.ok()) << tree.status();
  ASSERT_EQ(tree->left_out.size(), 2U);
  EXPECT_EQ(tree->left_out[0].path, "data/");
  EXPECT_EQ(tree->left_out[0].files, 2);
  EXPECT_EQ(tree->left_out[0].bytes, 5000);
  EXPECT_EQ(tree->left_out[1].path, "a.log");
  EXPECT_EQ(tree->left_out_files, 3);
  EXPECT_EQ(tree->left_out_bytes, 5005);
  EXPECT_FALSE(tree->left_out_more);
}

TEST_F(TreeWalkTest, NamesTheLargestFilesOfATooLargeTree) {
  Put("a", std::string(100, 'x'));
  Put("b", std::string(4000, 'x'));
  Put("c", std::string(3000, 'x'));
  Put("d", std::string(2000, 'x'));
  const auto tree = WalkTree(root_.path(), {.max_bytes = 9000});
  EXPECT_EQ(tree.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(tree.status().message()),
              AllOf(HasSubstr("has 9.1 kB, more than the 9.0 kB of code.max_size"),
                    HasSubstr("are b 4.0 kB, c 3.0 kB, d 2.0 kB. Exclude data with ")));
}

TEST_F(TreeWalkTest, RefusesTooManyFiles) {
  for (int file = 0; file < 4; ++file) Put(absl::StrCat("f", file));
  EXPECT_THAT(Error({.max_files = 3}), HasSubstr("has 4 files, more than the 3 of code.max_files"));
}

TEST_F(TreeWalkTest, DoesNotReadSparseFiles) {
  Put("huge");
  ASSERT_EQ(truncate(root_.File("huge").c_str(), int64_t{1} << 40), 0);
  EXPECT_THAT(Error(), HasSubstr("the largest files are huge 1.1 TB"));
}

TEST_F(TreeWalkTest, RefusesALinkOutOfTheTree) {
  Put("a/x");
  ASSERT_EQ(symlink("x", root_.File("a/inside").c_str()), 0);
  EXPECT_THAT(Paths(), ElementsAre("a/inside", "a/x"));
  ASSERT_EQ(symlink("../../etc/passwd", root_.File("a/outside").c_str()), 0);
  EXPECT_THAT(Error(), HasSubstr("the link a/outside leads out of the code directory, to "
                                 "../../etc/passwd; replace it"));
  EXPECT_THAT(Paths({.ignore = {"outside"}}), ElementsAre("a/inside", "a/x"));
}

TEST_F(TreeWalkTest, DoesNotEnterLinks) {
  Put("a/x");
  ASSERT_EQ(symlink(".", root_.File("a/loop").c_str()), 0);
  EXPECT_THAT(Paths(), ElementsAre("a/loop", "a/x"));
}

TEST_F(TreeWalkTest, RefusesNamesThatAreNotUtf8) {
  Put("a\xff.py");
  EXPECT_THAT(Error(), HasSubstr("cannot put a\\xff.py into the code snapshot: the name is not "
                                 "UTF-8; rename it"));
}

TEST_F(TreeWalkTest, LeavesOutFilesThatAreNotRegular) {
  Put("a.py");
  ASSERT_EQ(mkfifo(root_.File("fifo").c_str(), 0600), 0);
  EXPECT_THAT(Paths(), ElementsAre("a.py"));
}

TEST_F(TreeWalkTest, ReportsAMissingDirectory) {
  const auto tree = WalkTree(root_.File("missing"), {});
  EXPECT_EQ(tree.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(tree.status().message()), HasSubstr("cannot read the code directory"));
}

TEST_F(TreeWalkTest, RefusesVeryDeepTrees) {
  std::string path;
  for (int level = 0; level < 102; ++level) path += "d/";
  Put(path + "x");
  EXPECT_THAT(Error(), HasSubstr("more than 100 levels"));
}

}  // namespace
}  // namespace trainyard::code
