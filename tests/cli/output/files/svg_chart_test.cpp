#include "cli/output/files/svg_chart.h"

#include <cmath>
#include <limits>

#include "cli/output/plans/plan_figures.h"
#include "gmock/gmock.h"

namespace trainyard::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

int CountOf(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

LineChart Chart() {
  return {.title = "title",
          .x = {"across"},
          .y = {"up"},
          .lines = {{"first", {{0, 0}, {5, 5}, {10, 10}}}, {"second", {{0, 10}, {10, 0}}}},
          .marks = {{"here", {5, 5}}}};
}

TEST(SvgChartTest, EscapesEveryText) {
  EXPECT_EQ(EscapeXml("<a b=\"c\" & 'd'>"), "&lt;a b=&quot;c&quot; &amp; &#39;d&#39;&gt;");
  EXPECT_EQ(EscapeXml(std::string("a\x01\x1b b\tc")), "a?? b\tc");
  LineChart chart = Chart();
  chart.title = chart.x.label = chart.y.label = chart.lines[0].label = chart.marks[0].label =
      "<script>";
  EXPECT_THAT(SvgOf(chart), Not(HasSubstr("<script>")));
  EXPECT_EQ(CountOf(SvgOf(chart), "&lt;script&gt;"), 6) << "the title stands there twice";
  const std::string bars = SvgOf(BarChart{"<b>", {{"<c>", 1, "<d>"}}});
  EXPECT_THAT(bars, Not(HasSubstr("<b>")));
  EXPECT_THAT(bars, Not(HasSubstr("<c>")));
  EXPECT_THAT(bars, Not(HasSubstr("<d>")));
}

TEST(SvgChartTest, LinesGoFromCornerToCorner) {
  const std::string svg = SvgOf(Chart());
  EXPECT_THAT(svg, HasSubstr("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_THAT(svg, HasSubstr("points=\"84.0,384.0 410.0,214.0 736.0,44.0\""));
  EXPECT_THAT(svg, HasSubstr("points=\"84.0,44.0 736.0,384.0\""));
  EXPECT_THAT(svg, HasSubstr("<circle cx=\"410.0\" cy=\"214.0\""));
  for (const char* text : {">first<", ">second<", ">here<", ">across<", ">up<", ">title<"}) {
    EXPECT_THAT(svg, HasSubstr(text));
  }
  EXPECT_EQ(svg.substr(svg.size() - 7), "</svg>\n");
}

TEST(SvgChartTest, ALogarithmicAxisHasEqualStepsForEqualProportions) {
  LineChart chart = Chart();
  chart.x.is_logarithmic = true;
  chart.lines = {{"line", {{0, 3}, {1, 0}, {10, 5}, {100, 10}}}};
  chart.marks.clear();
  EXPECT_THAT(SvgOf(chart), HasSubstr("points=\"84.0,384.0 410.0,214.0 736.0,44.0\""))
      << "0 is on no logarithmic axis";
}

TEST(SvgChartTest, WhatCannotBeDrawnIsLeftOut) {
  LineChart chart = Chart();
  const double none = std::numeric_limits<double>::quiet_NaN();
  const double much = std::numeric_limits<double>::infinity();
  chart.lines = {{"line", {{0, 1}, {1, none}, {2, much}, {none, 1}}}};
  chart.marks = {{"nowhere", {none, 1}}};
  const std::string svg = SvgOf(chart);
  for (const char* text : {"nan", "inf", "nowhere"}) EXPECT_THAT(svg, Not(HasSubstr(text)));
  chart.lines.clear();
  EXPECT_THAT(SvgOf(chart), Not(HasSubstr("nan"))) << "without any point";
}

TEST(SvgChartTest, TicksAreRound) {
  EXPECT_THAT(TicksOf(0, 10, 5, false), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(TicksOf(-1, 1, 4, false), ElementsAre(-1, -0.5, 0, 0.5, 1));
  EXPECT_THAT(TicksOf(1, 1e4, 10, true), ElementsAre(1, 10, 100, 1e3, 1e4));
  EXPECT_THAT(TicksOf(1, 1e8, 5, true), ElementsAre(1, 100, 1e4, 1e6, 1e8));
  EXPECT_THAT(TicksOf(2, 8, 3, true), ElementsAre(2, 4, 6, 8)) << "less than a power of ten";
}

TEST(SvgChartTest, BarsAreAsLongAsTheirValues) {
  const std::string svg = SvgOf(BarChart{"title", {{"a", 4, "four"}, {"b", 1, "one"}}});
  EXPECT_THAT(svg, HasSubstr("width=\"410.0\" height=\"20\""));
  EXPECT_THAT(svg, HasSubstr("width=\"102.5\" height=\"20\""));
  EXPECT_THAT(SvgOf(BarChart{"title", {{"a", 0, "none"}}}), HasSubstr("width=\"0.0\""));
}

TEST(PlanFiguresTest, ScalingMarksTheOptimum) {
  const std::string svg = ScalingSvg(5.88e23);
  EXPECT_THAT(svg, HasSubstr("best loss at each budget"));
  EXPECT_EQ(CountOf(svg, "<polyline"), 4);
  EXPECT_EQ(CountOf(svg, "<circle"), 1);
  EXPECT_THAT(svg, HasSubstr("best: "));
  EXPECT_THAT(svg, HasSubstr("compute (FLOP)"));
}

TEST(PlanFiguresTest, GoodputMarksTheBestIntervalAndAnotherChosenOne) {
  const planner::Interruptions interruptions;
  const auto svg = [&](double interval) {
    return GoodputSvg(1024, planner::ReliabilityOf(1e6, 1024, interval, interruptions),
                      interruptions);
  };
  EXPECT_THAT(svg(0), HasSubstr("best: "));
  EXPECT_THAT(svg(0), Not(HasSubstr("chosen: ")));
  EXPECT_THAT(svg(60), HasSubstr("chosen: 1m00s"));
}

TEST(PlanFiguresTest, AStepHasABarForEachPart) {
  planner::LayoutPlan plan;
  plan.config.name = "run";
  plan.cluster = {planner::FindDeviceSpec("H100"), 2, 8};
  plan.search.best = planner::PlannedLayout{.step = {.compute = 3, .expert_wait = 1}};
  const std::string svg = StepTimeSvg(plan);
  EXPECT_THAT(svg, HasSubstr("Step of run on 2 nodes of 8 H100: 4.000 s"));
  EXPECT_THAT(svg, HasSubstr(">3.000 s, 75.0 %<"));
  EXPECT_THAT(svg, HasSubstr(">wait: experts<"));
  EXPECT_THAT(svg, Not(HasSubstr("optimizer")));
}

}  // namespace
}  // namespace trainyard::cli
