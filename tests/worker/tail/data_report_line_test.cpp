#include "worker/tail/data_report_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "proto/contract/data_report.h"
#include "worker/tail/telemetry_line.h"

namespace trainyard::worker {
namespace {

using ::testing::HasSubstr;

std::string ReportLine(const std::string& fields) {
  return R"({"type":"data_report",)" + fields + "}";
}

std::string ReportCauseOf(const std::string& fields) {
  return std::string(ParseTelemetryLine(ReportLine(fields)).status().message());
}

TEST(DataReportLineTest, ReadsAPart) {
  const auto record = ParseTelemetryLine(
      ReportLine(R"("time_ms":9,"number":2,"part":1,"parts":3,"text":"{\"a\": \"\\u00e9é\"")"));
  ASSERT_TRUE(record.ok()) << record.status();
  EXPECT_EQ(record->time_ms(), 9);
  EXPECT_EQ(record->data_report().number(), 2);
  EXPECT_EQ(record->data_report().part(), 1);
  EXPECT_EQ(record->data_report().parts(), 3);
  EXPECT_EQ(record->data_report().text(), R"({"a": "\u00e9é")");
}

TEST(DataReportLineTest, RefusesPartsBeyondTheLimits) {
  EXPECT_THAT(ReportCauseOf(R"("number":0,"part":1,"parts":1,"text":"")"), HasSubstr("`number`"));
  EXPECT_THAT(ReportCauseOf(R"("number":1,"part":0,"parts":1,"text":"")"),
              HasSubstr("`part` from 1"));
  EXPECT_THAT(ReportCauseOf(R"("number":1,"part":2,"parts":1,"text":"")"),
              HasSubstr("`part` from 1"));
  EXPECT_THAT(ReportCauseOf(R"("number":1,"part":1,"parts":36,"text":"")"),
              HasSubstr("`parts` at most"));
  EXPECT_THAT(ReportCauseOf(R"("number":1,"part":1,"text":"")"), HasSubstr("`parts` is not there"));
  EXPECT_THAT(ReportCauseOf(R"("number":1,"part":1,"parts":1,"text":7)"),
              HasSubstr("`text` is not"));
  const auto with_text = [](std::size_t bytes) {
    return R"("number":1,"part":1,"parts":1,"text":")" + std::string(bytes, 'x') + "\"";
  };
  EXPECT_EQ(ReportCauseOf(with_text(kMaxDataReportPartBytes)), "");
  EXPECT_THAT(ReportCauseOf(with_text(kMaxDataReportPartBytes + 1)),
              HasSubstr("`text` is not a text"));
}

}  // namespace
}  // namespace trainyard::worker
