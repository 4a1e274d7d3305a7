// Charts as SVG text, without a library: lines over two axes, and bars. Every text is escaped.
#ifndef TRAINYARD_CLI_OUTPUT_SVG_CHART_H_
#define TRAINYARD_CLI_OUTPUT_SVG_CHART_H_

#include <string>
#include <vector>

namespace trainyard::cli {

struct ChartPoint {
  double x = 0;
  double y = 0;
};

struct ChartAxis {
  std::string label;
  bool is_logarithmic = false;  // Only positive values are drawn.
};

struct ChartLine {
  std::string label;
  std::vector<ChartPoint> points;  // In the order of x; at least two are finite.
};

// A point with a text of its own, such as an optimum.
struct ChartMark {
  std::string label;
  ChartPoint at;
};

struct LineChart {
  std::string title;
  ChartAxis x;
  ChartAxis y;
  std::vector<ChartLine> lines;
  std::vector<ChartMark> marks;
};

struct ChartBar {
  std::string label;
  double value = 0;  // Not negative.
  std::string text;  // Beside the bar: the value as people read it.
};

struct BarChart {
  std::string title;
  std::vector<ChartBar> bars;
};

std::string SvgOf(const LineChart& chart);
std::string SvgOf(const BarChart& chart);

// For texts and attributes of XML. Characters that XML does not have become "?".
std::string EscapeXml(const std::string& text);

// Round values within [low, high], about `count` of them: 1, 2 or 5 times a power of ten; powers of
// ten where the axis is logarithmic.
std::vector<double> TicksOf(double low, double high, int count, bool is_logarithmic);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_SVG_CHART_H_
