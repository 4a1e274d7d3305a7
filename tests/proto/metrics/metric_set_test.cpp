#include "proto/metrics/metric_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace trainyard {
namespace {

using ::testing::HasSubstr;

constexpr MetricInfo kInfo{"trainyard_test", "For this test."};

TEST(MetricSetTest, LabelsOfUsersCannotControlATerminalOrForgeSamples) {
  MetricSet metrics;
  metrics.Add(kInfo, {{"job_name", "a\x1b]0;owned\x07\nforged 1\"} \\ \xff\xc2\x9b"}}, 1);
  const std::string page = RenderText(metrics.Take());
  EXPECT_THAT(page, HasSubstr("{job_name=\"a\\\\u001b]0;owned\\\\u0007\\nforged 1\\\"} \\\\ "
                              "\xef\xbf\xbd\\\\u009b\"} 1"));
  for (const char c : page) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
}

TEST(MetricSetTest, LabelSetsThatDifferStayDifferent) {
  MetricSet metrics;
  metrics.Add(kInfo, {{"code", "\x1b"}}, 1);
  metrics.Add(kInfo, {{"code", "\\u001b"}}, 2);
  const std::string page = RenderText(metrics.Take());
  EXPECT_THAT(page, HasSubstr("{code=\"\\\\u001b\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("{code=\"\\\\u005cu001b\"} 2\n"));
}

}  // namespace
}  // namespace trainyard
