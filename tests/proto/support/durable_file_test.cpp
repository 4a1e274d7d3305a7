#include "proto/support/durable_file.h"

#include <unistd.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard {
namespace {

using testing::HasSubstr;

TEST(DurableFileTest, ReplacesTheWholeFile) {
  const TemporaryDirectory directory;
  const std::string path = directory.File("record");
  ASSERT_TRUE(WriteFileAtomically(path, "a longer text").ok());
  ASSERT_TRUE(WriteFileAtomically(path, "short").ok());
  EXPECT_EQ(ReadSmallFile(path).value(), "short");
  EXPECT_NE(access((path + ".tmp").c_str(), F_OK), 0);
}

TEST(DurableFileTest, ReservedSpaceIsNotPartOfTheText) {
  const TemporaryDirectory directory;
  const std::string path = directory.File("record");
  ASSERT_TRUE(ReserveAtomicFile(path, 4096).ok());
  EXPECT_EQ(ReadSmallFile(path).status().code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(WriteFileAtomically(path, "text").ok());
  EXPECT_EQ(ReadSmallFile(path).value(), "text");
}

TEST(DurableFileTest, ErrorsNameThePathAndTheCause) {
  const absl::Status status = WriteFileAtomically("/no/such/dir/record", "text");
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("/no/such/dir/record"));
  EXPECT_EQ(ReadSmallFile("/proc/self/status", 10).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace trainyard
