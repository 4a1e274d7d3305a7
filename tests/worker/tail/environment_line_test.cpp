#include "worker/tail/environment_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "proto/contract/limits.h"
#include "worker/tail/telemetry_line.h"

namespace trainyard::worker {
namespace {

using testing::ElementsAre;

TEST(EnvironmentLineTest, ReadsTheSoftware) {
  const auto record = ParseTelemetryLine(
      R"({"type":"environment","interpreter":"/v/bin/python","interpreter_version":"3.11.2",)"
      R"("cuda":"12.4","packages":"a==1 b==2","packages_omitted":3,"image":7})");
  ASSERT_TRUE(record.ok()) << record.status();
  EXPECT_EQ(record->environment().interpreter(), "/v/bin/python");
  EXPECT_EQ(record->environment().interpreter_version(), "3.11.2");
  EXPECT_EQ(record->environment().cuda(), "12.4");
  EXPECT_THAT(record->environment().packages(), ElementsAre("a==1", "b==2"));
  EXPECT_EQ(record->environment().packages_omitted(), 3);
  EXPECT_EQ(record->environment().image(), "") << "not a text";
}

TEST(EnvironmentLineTest, LimitsTheTexts) {
  const auto line = [](const char* key, std::size_t bytes) {
    return ParseTelemetryLine(absl::StrCat(R"({"type":"environment",")", key, R"(":")",
                                           std::string(bytes, 'x'), R"("})"));
  };
  EXPECT_EQ(line("problem", 9000)->environment().problem().size(), kMaxEnvironmentTextBytes);
  EXPECT_TRUE(line("packages", kMaxEnvironmentPackagesBytes).ok());
  EXPECT_FALSE(line("packages", kMaxEnvironmentPackagesBytes + 1).ok());
  EXPECT_FALSE(ParseTelemetryLine(R"({"type":"environment","packages_omitted":-1})").ok());
}

}  // namespace
}  // namespace trainyard::worker
