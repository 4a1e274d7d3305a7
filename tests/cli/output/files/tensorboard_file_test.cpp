#include "cli/output/files/tensorboard_file.h"

#include <string>

#include "gtest/gtest.h"
#include "trainyard/v1/tensorboard_event.pb.h"

namespace trainyard::cli {
namespace {

TEST(TensorboardFileTest, SeriesHasAnEventForEachPoint) {
  v1::Series series;
  series.set_key("loss");
  for (const int64_t step : {1, 2}) {
    series.add_steps(step);
    series.add_times_ms(1'700'000'000'500 + step);
    series.add_last(4.5 / static_cast<double>(step));
  }
  const std::string records = TensorboardSeries(series);
  const auto length = static_cast<std::size_t>(static_cast<unsigned char>(records[0]));
  v1::TensorboardEvent first;
  ASSERT_TRUE(first.ParseFromString(records.substr(12, length)));
  EXPECT_EQ(first.step(), 1);
  EXPECT_DOUBLE_EQ(first.wall_time(), 1'700'000'000.501);
  EXPECT_EQ(first.summary().value(0).tag(), "loss");
  EXPECT_EQ(first.summary().value(0).simple_value(), 4.5f);
  EXPECT_EQ(records.size(), 2 * (length + 16));
}

}  // namespace
}  // namespace trainyard::cli
