#include "data/tokens/output_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data/text_directory.h"

namespace trainyard::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

void WriteInto(const OutputDirectory& output, const std::string& text) {
  std::ofstream(output.path() + "/train.bin") << text;
  std::ofstream(output.path() + "/train.json") << "{}";
}

TEST(OutputDirectoryTest, AppearsWhole) {
  const TextDirectory directory;
  const auto output = OutputDirectory::Create(directory / "a/b/", false);
  ASSERT_TRUE(output.ok()) << output.status();
  WriteInto(**output, "one");
  EXPECT_FALSE(std::filesystem::exists(directory / "a/b"));
  EXPECT_TRUE((*output)->Publish().ok());
  EXPECT_EQ((*output)->target(), directory / "a/b");
  EXPECT_EQ(ReadFile(directory / "a/b/train.bin"), "one");
}

TEST(OutputDirectoryTest, LeavesNothingUnlessPublished) {
  const TextDirectory directory;
  {
    const auto output = OutputDirectory::Create(directory / "out", false);
    WriteInto(**output, "one");
  }
  EXPECT_THAT(directory.Names(), IsEmpty());
}

TEST(OutputDirectoryTest, ReplacesADataSetOnlyWhenTold) {
  const TextDirectory directory;
  directory.Write("out/train.bin", "old");
  directory.Write("out/train.json", "{}");
  const auto refused = OutputDirectory::Create(directory / "out", false);
  EXPECT_TRUE(absl::IsAlreadyExists(refused.status()));
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("--force"));
  {
    const auto output = OutputDirectory::Create(directory / "out", true);
    ASSERT_TRUE(output.ok()) << output.status();
    WriteInto(**output, "new");
    EXPECT_EQ(ReadFile(directory / "out/train.bin"), "old");
    EXPECT_TRUE((*output)->Publish().ok());
  }
  EXPECT_EQ(ReadFile(directory / "out/train.bin"), "new");
  EXPECT_THAT(directory.Names(), ElementsAre("out"));
}

TEST(OutputDirectoryTest, NeverReplacesAnythingElse) {
  const TextDirectory directory;
  directory.Write("home/letter.txt", "dear");
  directory.Write("file", "x");
  for (const char* name : {"home", "file"}) {
    const auto output = OutputDirectory::Create(directory / name, true);
    EXPECT_TRUE(absl::IsAlreadyExists(output.status())) << name;
    EXPECT_THAT(std::string(output.status().message()), HasSubstr("not a data set"));
  }
  EXPECT_EQ(ReadFile(directory / "home/letter.txt"), "dear");
}

TEST(OutputDirectoryTest, LooksAgainBeforeItPublishes) {
  const TextDirectory directory;
  const auto output = OutputDirectory::Create(directory / "out", false);
  WriteInto(**output, "mine");
  directory.Write("out/train.bin", "of another who was faster");
  directory.Write("out/train.json", "{}");
  EXPECT_TRUE(absl::IsAlreadyExists((*output)->Publish()));
  EXPECT_EQ(ReadFile(directory / "out/train.bin"), "of another who was faster");
}

TEST(OutputDirectoryTest, FillsAnEmptyDirectory) {
  const TextDirectory directory;
  std::filesystem::create_directory(directory / "out");
  const auto output = OutputDirectory::Create(directory / "out", false);
  ASSERT_TRUE(output.ok());
  WriteInto(**output, "one");
  EXPECT_TRUE((*output)->Publish().ok());
  EXPECT_EQ(ReadFile(directory / "out/train.bin"), "one");
}

TEST(OutputDirectoryTest, SaysWhyItCannotBeMade) {
  const auto output = OutputDirectory::Create("/proc/trainyard/out", false);
  EXPECT_THAT(std::string(output.status().message()), HasSubstr("cannot create /proc/trainyard"));
}

}  // namespace
}  // namespace trainyard::data
