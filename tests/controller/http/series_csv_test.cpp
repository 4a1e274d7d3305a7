// Tests series in the CSV format.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "tests/controller/controller_harness.h"
#include "tests/controller/http/dashboard_fixture.h"
#include "tests/controller/http/http_client.h"

namespace trainyard::controller::http {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class SeriesCsvTest : public DashboardTest {
 protected:
  void SetUp() override {
    DashboardTest::SetUp();
    ASSERT_EQ(client_.Post("/api/v1/nodes/a/uncordon", "{}").status, 200);
    running_.Submit("job");
    const v1::StreamId stream = Stream(1, v1::STREAM_KIND_TELEMETRY);
    v1::TelemetryRecord record;
    for (int step = 1; step <= 4; ++step) {
      record.set_time_ms(1000 * step);
      record.mutable_metrics()->set_step(step);
      auto& values = *record.mutable_metrics()->mutable_values();
      values["loss"] = step == 3 ? std::numeric_limits<double>::quiet_NaN() : 0.1 * step;
      values["my \"own\""] = step == 2 ? std::numeric_limits<double>::infinity() : step;
      values["my,own"] = 7;
      worker_.SendRecord(stream, 100 * (step - 1), 100 * step, record);
    }
    worker_.TakeAcknowledged(stream, 400);
  }

  std::vector<std::string> Rows(const std::string& query) {
    const Answer answer = client_.Get("/api/v1/jobs/1/series?format=csv&" + query);
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.headers.at("content-type"), "text/csv; charset=utf-8");
    std::vector<std::string> rows = absl::StrSplit(answer.body, "\r\n");
    EXPECT_EQ(rows.back(), "") << "every row has an end";
    rows.pop_back();
    return rows;
  }
};

TEST_F(SeriesCsvTest, OneRowAPointAndColumnsByName) {
  EXPECT_THAT(Rows("keys=loss"),
              testing::ElementsAre(
                  "key,attempt,redone,step,x,time_ms,last,min,max,count,nan_count,smoothed,mean",
                  "loss,1,false,1,1,1000,0.1,0.1,0.1,1,0,,0.1",
                  "loss,1,false,2,2,2000,0.2,0.2,0.2,1,0,,0.2",
                  "loss,1,false,3,3,3000,nan,nan,nan,1,1,,nan",
                  "loss,1,false,4,4,4000,0.4,0.4,0.4,1,0,,0.4"));
}

TEST_F(SeriesCsvTest, BucketsKeepExtremesAndSmoothingHasItsColumn) {
  const std::vector<std::string> rows = Rows("keys=loss&buckets=1&smooth=0.5");
  ASSERT_EQ(rows.size(), 2u);
  const std::vector<std::string> cells = absl::StrSplit(rows[1], ',');
  ASSERT_EQ(cells.size(), 13u);
  EXPECT_EQ(cells[6], "0.4");
  EXPECT_EQ(cells[7], "0.1");
  EXPECT_EQ(cells[8], "0.4");
  EXPECT_EQ(cells[9], "4");
  EXPECT_EQ(cells[10], "1");
  EXPECT_GT(std::stod(cells[11]), 0.1);
  EXPECT_NEAR(std::stod(cells[12]), 0.7 / 3, 1e-9);
}

TEST_F(SeriesCsvTest, KeysWithCommasAreAskedForOneByOne) {
  const std::vector<std::string> rows = Rows("keys=loss&key=my,own&key=my%20%22own%22");
  ASSERT_EQ(rows.size(), 13u);
  EXPECT_EQ(rows[5], "\"my,own\",1,false,1,1,1000,7,7,7,1,0,,7");
  EXPECT_EQ(rows[9].substr(0, 13), "\"my \"\"own\"\"\",");
}

TEST_F(SeriesCsvTest, NoControlCharacterOfAKeyPasses) {
  v1::TelemetryRecord record;
  record.set_time_ms(5000);
  record.mutable_metrics()->set_step(5);
  (*record.mutable_metrics()->mutable_values())["my\x1b[2J"] = 1;
  const v1::StreamId stream = Stream(1, v1::STREAM_KIND_TELEMETRY);
  worker_.SendRecord(stream, 400, 500, record);
  worker_.TakeAcknowledged(stream, 500);
  const std::vector<std::string> rows = Rows("key=my%1B[2J");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].substr(0, 11), "my\\u001b[2J");
}

TEST_F(SeriesCsvTest, SeveralJobsComeInOneAnswer) {
  running_.Submit("other");
  const json answer =
      client_.Get("/api/v1/series?jobs=1,other,1,none&keys=loss&buckets=1&fields=x,last").Json();
  ASSERT_EQ(answer["jobs"].size(), 2u) << answer.dump();
  EXPECT_EQ(answer["jobs"][1]["name"], "other");
  EXPECT_EQ(answer["missing"], json({"none"}));
  ASSERT_EQ(answer["series"].size(), 2u);
  const json first = {{"job_id", 1}, {"key", "loss"}, {"x", {4}}, {"last", {0.4}}};
  EXPECT_EQ(answer["series"][0], first) << answer["series"][0].dump();
  EXPECT_EQ(answer["series"][1]["job_id"], 2);
  EXPECT_EQ(answer["series"][1]["x"].size(), 0u);
  std::string many = "1";
  for (int i = 0; i < 64; ++i) many += ",1";
  EXPECT_EQ(client_.Get("/api/v1/series?jobs=" + many).status, 400);
  EXPECT_THAT(client_.Get("/api/v1/series?jobs=1,2,3,4,5,6,7,8,9,10&keys=a,b,c,d,e,f&buckets=10000")
                  .Json()["detail"]
                  .get<std::string>(),
              HasSubstr("fewer buckets"));
}

TEST_F(SeriesCsvTest, KeysWithQuotesAreQuoted) {
  const std::vector<std::string> rows = Rows("keys=no_such_key,my%20%22own%22");
  ASSERT_EQ(rows.size(), 5u) << "a key without points has no rows";
  EXPECT_EQ(rows[1], "\"my \"\"own\"\"\",1,false,1,1,1000,1,1,1,1,0,,1");
  EXPECT_EQ(rows[2], "\"my \"\"own\"\"\",1,false,2,2,2000,inf,inf,inf,1,0,,nan");
}

}  // namespace
}  // namespace trainyard::controller::http
