#include "worker/tail/experts_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "proto/contract/expert_load.h"
#include "worker/tail/telemetry_line.h"

namespace trainyard::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Line(const std::string& fields) {
  return R"({"type":"experts","step":7,"expert_count":2,"topk":1,)" + fields + "}";
}

std::string CauseOf(const std::string& line) {
  return std::string(ParseTelemetryLine(line).status().message());
}

TEST(ExpertsLineTest, ReadsTheBalanceOfEachLayer) {
  const v1::ExpertsRecord record =
      ParseTelemetryLine(Line(R"("first_layer":3,"load":"0080FF10","balance":[1.5,2],)"
                              R"("aux_loss":[1,1.25],"entropy":[0.75,NaN],"dropped":[0,0.5])"))
          ->experts();
  EXPECT_EQ(record.step(), 7);
  EXPECT_EQ(record.first_layer(), 3);
  EXPECT_EQ(record.experts(), 2);
  EXPECT_EQ(record.topk(), 1);
  EXPECT_EQ(record.load(), std::string("\x00\x80\xff\x10", 4));
  EXPECT_THAT(record.balance(), ElementsAre(1.5, 2));
  EXPECT_THAT(record.aux_loss(), ElementsAre(1, 1.25));
  EXPECT_THAT(record.entropy(), ElementsAre(0.75, ::testing::IsNan()));
  EXPECT_THAT(record.dropped(), ElementsAre(0, 0.5));
}

TEST(ExpertsLineTest, OnlyTheBalanceIsRequired) {
  const v1::ExpertsRecord record = ParseTelemetryLine(Line(R"("balance":[1])"))->experts();
  EXPECT_EQ(record.first_layer(), 0);
  EXPECT_THAT(record.balance(), ElementsAre(1));
  EXPECT_EQ(record.load(), "");
  EXPECT_EQ(record.entropy_size(), 0);
}

TEST(ExpertsLineTest, RefusesSizesThatDoNotFit) {
  EXPECT_THAT(CauseOf(Line(R"("entropy":[1])")), HasSubstr("`balance` is not an array"));
  EXPECT_THAT(CauseOf(Line(R"("balance":1)")), HasSubstr("`balance` is not an array"));
  EXPECT_THAT(CauseOf(Line(R"("balance":[1,1],"entropy":[1])")), HasSubstr("`entropy`"));
  EXPECT_THAT(CauseOf(Line(R"("balance":[1,1],"load":"00ff00")")), HasSubstr("`load`"));
  EXPECT_THAT(CauseOf(Line(R"("balance":[1],"load":"00fg")")), HasSubstr("`load`"));
  EXPECT_THAT(CauseOf(R"({"type":"experts","step":7,"topk":1,"balance":[1]})"),
              HasSubstr("`expert_count`"));
  EXPECT_THAT(CauseOf(R"({"type":"experts","step":7,"expert_count":2,"topk":3,"balance":[1]})"),
              HasSubstr("`topk` from 1 to `expert_count`"));
}

TEST(ExpertsLineTest, RefusesMoreLoadsThanARecordMayHave) {
  const std::string line = R"({"type":"experts","step":7,"topk":1,"balance":[1],"expert_count":)" +
                           std::to_string(kMaxExpertLoads + 1) + ",\"load\":\"" +
                           std::string(2 * (kMaxExpertLoads + 1), '8') + "\"}";
  EXPECT_THAT(CauseOf(line), HasSubstr("at most 24576"));
}

TEST(ExpertsLineTest, ArraysOfOtherRecordsAreIgnored) {
  const auto record = ParseTelemetryLine(R"({"type":"metrics","step":7,"a":[1,[2],"x"],"loss":3})");
  EXPECT_EQ(record->metrics().values_size(), 1);
}

}  // namespace
}  // namespace trainyard::worker
