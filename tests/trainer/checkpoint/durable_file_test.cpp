#include "trainer/checkpoint/durable_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "tests/fakes/temporary_directory.h"

namespace trainyard::trainer {
namespace {

using testing::HasSubstr;

std::string TextOfError(const std::function<void()>& work) {
  try {
    work();
  } catch (const TrainerError& error) {
    return error.what();
  }
  return "";
}

TEST(DurableFileTest, RemovesALinkAndNeverItsTarget) {
  const TemporaryDirectory directory;
  MakeDirectories(directory.File("other/deep"));
  MakeDirectories(directory.File("step/deep"));
  WriteFileAtomically(directory.File("other/deep/file"), "text");
  ASSERT_EQ(symlink(directory.File("other").c_str(), directory.File("step/deep/link").c_str()), 0);
  ASSERT_EQ(symlink(directory.File("other").c_str(), directory.File("link").c_str()), 0);
  RemoveTree(directory.File("step"));
  RemoveTree(directory.File("link"));
  EXPECT_NE(access(directory.File("step").c_str(), F_OK), 0);
  EXPECT_NE(access(directory.File("link").c_str(), F_OK), 0);
  EXPECT_EQ(FileBytes(directory.File("other/deep/file")), 4);
}

TEST(DurableFileTest, RemovesNoFileBehindALink) {
  const TemporaryDirectory directory;
  MakeDirectories(directory.File("other"));
  WriteFileAtomically(directory.File("other/file"), "text");
  ASSERT_EQ(symlink(directory.File("other").c_str(), directory.File("link").c_str()), 0);
  RemoveFile(directory.File("link"), "file");
  EXPECT_EQ(FileBytes(directory.File("other/file")), 4);
  RemoveFile(directory.File("other"), "file");
  EXPECT_EQ(FileBytes(directory.File("other/file")), -1);
}

TEST(DurableFileTest, AnErrorNamesTheLinkInThePath) {
  const TemporaryDirectory directory;
  ASSERT_EQ(symlink(directory.File("none").c_str(), directory.File("link").c_str()), 0);
  EXPECT_THAT(
      TextOfError(
          [&] { ReadFile(directory.File("link/manifest.json"), ExitCode::kBadCheckpoint); }),
      HasSubstr(directory.File("link") + " is a symbolic link to " + directory.File("none")));
  EXPECT_THAT(TextOfError([&] { MakeDirectories(directory.File("link/step")); }),
              HasSubstr("is a symbolic link to"));
}

TEST(DurableFileTest, NoDirectoryOfTheKernelIsUsed) {
  const TemporaryDirectory directory;
  ASSERT_EQ(symlink("/proc/self/task", directory.File("link").c_str()), 0);
  for (const std::string& path :
       {std::string("/proc/self/root/tmp"), directory.File("link/checkpoints")}) {
    EXPECT_THAT(TextOfError([&] { MakeDirectories(path); }),
                HasSubstr("use a directory on a disk"));
  }
}

}  // namespace
}  // namespace trainyard::trainer
