#include "data/tokens/output_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data/text_directory.h"

namespace trainyard::data {
namespace {

using testing::HasSubstr;

TEST(OutputFileTest, NeverOverwrites) {
  const TextDirectory directory;
  const auto file = OutputFile::Create(directory.Write("there", "x"));
  EXPECT_THAT(std::string(file.status().message()), HasSubstr("there: File exists"));
}

TEST(OutputFileTest, ReplacesTheFirstBytesOnly) {
  const TextDirectory directory;
  const std::string path = directory.Write("file", "header body");
  EXPECT_TRUE(OverwriteStart(path, "HEAD").ok());
  EXPECT_EQ(ReadFile(path), "HEADer body");
  EXPECT_THAT(std::string(OverwriteStart(directory / "none", "x").message()),
              HasSubstr("none: No such file"));
}

}  // namespace
}  // namespace trainyard::data
