#include "proto/code/git_state.h"

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard::code {
namespace {

using testing::HasSubstr;
using testing::Not;

class GitStateTest : public testing::Test {
 protected:
  void Git(const std::string& arguments) {
    const std::string command =
        absl::StrCat("cd ", root_.path(), " && git -c user.name=t -c user.email=t@t ", arguments,
                     " >/dev/null 2>&1");
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }
  void Commit() {
    Git("init -b main");
    WriteFile(root_.File("train.py"), "one\n");
    Git("add .");
    Git("commit -m first");
  }
  GitState State() {
    const auto state = ReadGitState(root_.path());
    EXPECT_TRUE(state.has_value());
    return state.value_or(GitState());
  }

  TemporaryDirectory root_;
};

TEST_F(GitStateTest, FindsNoRepository) {
  EXPECT_EQ(ReadGitState(root_.path()), std::nullopt);
  EXPECT_EQ(ReadGitState(root_.File("missing")), std::nullopt);
}

TEST_F(GitStateTest, ReadsCommitBranchAndRemote) {
  Commit();
  Git("remote add origin https://me:secret@host/team/repo.git");
  const GitState state = State();
  EXPECT_EQ(state.commit.size(), 40U);
  EXPECT_EQ(state.branch, "main");
  EXPECT_EQ(state.remote, "https://host/team/repo.git");
  EXPECT_FALSE(state.dirty);
  EXPECT_EQ(state.diff, "");
  Git("checkout --detach");
  EXPECT_EQ(State().branch, "");
}

TEST_F(GitStateTest, ReadsTheUncommittedDifference) {
  Commit();
  WriteFile(root_.File("train.py"), "two\n");
  const GitState state = State();
  EXPECT_TRUE(state.dirty);
  EXPECT_THAT(state.diff, HasSubstr("-one\n+two\n"));
  EXPECT_FALSE(state.diff_cut);
}

TEST_F(GitStateTest, IsDirtyWithFilesThatGitDoesNotTrack) {
  Commit();
  WriteFile(root_.File("new.py"), "x");
  EXPECT_TRUE(State().dirty);
  WriteFile(root_.File(".git/info/exclude"), "new.py\n");
  EXPECT_FALSE(State().dirty);
}

TEST_F(GitStateTest, CutsALargeDifferenceAfterALine) {
  Commit();
  std::string text;
  while (text.size() < 2 * kMaxDiffBytes) absl::StrAppend(&text, "a line of the large file\n");
  WriteFile(root_.File("train.py"), text);
  const GitState state = State();
  EXPECT_TRUE(state.diff_cut);
  EXPECT_LE(state.diff.size(), kMaxDiffBytes);
  EXPECT_EQ(state.diff.back(), '\n');
}

TEST_F(GitStateTest, ReadsARepositoryWithoutCommits) {
  Git("init");
  WriteFile(root_.File("a.py"), "x");
  const GitState state = State();
  EXPECT_EQ(state.commit, "");
  EXPECT_TRUE(state.dirty);
}

TEST_F(GitStateTest, RunsNoProgramsOfTheRepository) {
  Commit();
  Git(absl::StrCat("config core.fsmonitor 'touch ", root_.File("ran"), "; false'"));
  Git(absl::StrCat("config diff.external 'touch ", root_.File("ran"), "'"));
  unlink(root_.File("ran").c_str());
  WriteFile(root_.File("train.py"), "two\n");
  EXPECT_THAT(State().diff, HasSubstr("+two"));
  EXPECT_EQ(access(root_.File("ran").c_str(), F_OK), -1);
}

TEST(WithoutCredentialsTest, RemovesSecretsFromUrls) {
  EXPECT_EQ(WithoutCredentials("https://host/a"), "https://host/a");
  EXPECT_EQ(WithoutCredentials("https://user@host/a"), "https://host/a");
  EXPECT_EQ(WithoutCredentials("https://u:p@w@host:8/a@b"), "https://host:8/a@b");
  EXPECT_EQ(WithoutCredentials("https://host/a?token=1#x"), "https://host/a");
  EXPECT_EQ(WithoutCredentials("git@host:team/repo"), "git@host:team/repo");
  EXPECT_EQ(WithoutCredentials("u:p@host:team/repo"), "host:team/repo");
  EXPECT_EQ(WithoutCredentials("/srv/repo.git"), "/srv/repo.git");
  EXPECT_EQ(WithoutCredentials(""), "");
}

}  // namespace
}  // namespace trainyard::code
