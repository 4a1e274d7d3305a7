#include "cli/output/jobs/loss_curve_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

v1::LossCurve CurveWith(int spikes) {
  v1::LossCurve curve;
  curve.set_recent_loss(2.5);
  curve.set_previous_loss(2.643);
  curve.set_improvement_rate(0.054);
  curve.set_recommendation("normal");
  curve.set_spike_count(spikes);
  for (int i = 1; i <= spikes; ++i) curve.add_spike_steps(250 + i);
  return curve;
}

TEST(LossCurveViewTest, TellsTheMeansAndTheirDifference) {
  const std::string text = LossCurveText(CurveWith(0));
  EXPECT_THAT(text, HasSubstr("2.5, mean of the latest 100 losses (previous mean: 2.643)"));
  EXPECT_THAT(text, HasSubstr("none found by the loss guard"));
  EXPECT_THAT(text, HasSubstr("by 5.40 %"));
  EXPECT_THAT(text, Not(HasSubstr("Not finite")));
}

TEST(LossCurveViewTest, NamesTheWindow) {
  v1::LossCurve curve = CurveWith(0);
  curve.set_window(2000);
  EXPECT_THAT(LossCurveText(curve), HasSubstr("mean of the latest 2000"));
}

TEST(LossCurveViewTest, NamesTheNewestSpikes) {
  EXPECT_THAT(LossCurveText(CurveWith(1)), HasSubstr("1, at steps 251"));
  EXPECT_THAT(LossCurveText(CurveWith(7)),
              HasSubstr("7, the latest at steps 253, 254, 255, 256, 257"));
}

}  // namespace
}  // namespace trainyard::cli
