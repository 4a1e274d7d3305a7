// Tests `export metrics`.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "gmock/gmock.h"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ExportTest : public CliFixture {
 protected:
  ExportTest() {
    for (int i = 0; i < 10; ++i) answers().keys.add_keys("metric" + std::to_string(i));
    v1::Series& series = *answers().series.add_series();
    series.set_key("loss");
    for (const int64_t step : {1, 2}) {
      series.add_steps(step);
      series.add_times_ms(kNow);
    }
    series.add_last(4.5);
    series.add_last(std::numeric_limits<double>::quiet_NaN());
  }
};

TEST_F(ExportTest, WritesAllSeriesAsCsvAndJsonLines) {
  const CliResult csv = Run({"export", "metrics", "tiny", "--to", "csv"});
  EXPECT_EQ(csv.exit_code, 0) << csv.err;
  // 10 metrics need two requests. The fake server answers each of them with the same series.
  EXPECT_EQ(answers().series_requests.size(), 2u);
  EXPECT_EQ(answers().series_requests[0].keys_size(), 8);
  EXPECT_EQ(answers().series_requests[0].buckets(), 0);
  EXPECT_THAT(csv.out,
              ::testing::StartsWith("step,time,metric,value\n1,2026-11-21T12:00:00.000Z,loss,4.5\n"
                                    "2,2026-11-21T12:00:00.000Z,loss,NaN\n"));
  const CliResult json = Run({"export", "metrics", "tiny@2", "--to", "jsonl"});
  EXPECT_THAT(json.out, HasSubstr("{\"metric\":\"loss\",\"step\":2,\"time\":"
                                  "\"2026-11-21T12:00:00.000Z\",\"value\":\"NaN\"}\n"));
  EXPECT_EQ(answers().series_requests.back().attempt(), 2);
}

TEST_F(ExportTest, WritesAnEventFileIntoADirectory) {
  const std::string out = directory() + "/runs/tiny";
  const CliResult result = Run({"export", "metrics", "tiny", "--to", "tensorboard", "--out", out});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, IsEmpty());
  const std::string path = out + "/events.out.tfevents.1795262400.tiny";
  EXPECT_THAT(result.err, HasSubstr("wrote " + path));
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(text, HasSubstr("brain.Event:2"));
  EXPECT_THAT(text, HasSubstr("loss"));
}

TEST_F(ExportTest, ErrorsNameTheNextStep) {
  EXPECT_EQ(Run({"export", "metrics", "tiny", "--to", "xml"}).exit_code, 2);
  const CliResult no_directory = Run({"export", "metrics", "tiny", "--to", "tensorboard"});
  EXPECT_EQ(no_directory.exit_code, 2);
  EXPECT_THAT(no_directory.err, HasSubstr("--out DIR"));
  const CliResult no_file =
      Run({"export", "metrics", "tiny", "--to", "csv", "--out", directory() + "/none/a.csv"});
  EXPECT_EQ(no_file.exit_code, 2);
  EXPECT_THAT(no_file.err, HasSubstr("/none/a.csv"));
  answers().keys.clear_keys();
  EXPECT_EQ(Run({"export", "metrics", "tiny", "--to", "csv"}).exit_code, 4);
}

}  // namespace
}  // namespace trainyard::cli
