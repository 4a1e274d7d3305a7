// Draws line charts and bar charts as SVG text, without a library. All text is escaped.
#ifndef TRAINYARD_CLI_OUTPUT_FILES_SVG_CHART_H_
#define TRAINYARD_CLI_OUTPUT_FILES_SVG_CHART_H_

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
  std::vector<ChartPoint> points;  // Sorted by x; at least two points are finite.
};

// A labeled point, such as the optimum of a curve.
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
  std::string text;  // Formatted value, shown next to the bar.
};

struct BarChart {
  std::string title;
  std::vector<ChartBar> bars;
};

std::string SvgOf(const LineChart& chart);
std::string SvgOf(const BarChart& chart);

// Escapes text for XML content and attributes. Characters that XML does not permit become "?".
std::string EscapeXml(const std::string& text);

// Returns about `count` round values within [low, high]. The values are multiples of 1, 2 or 5
// times a power of ten. On a logarithmic axis, the values are powers of ten.
std::vector<double> TicksOf(double low, double high, int count, bool is_logarithmic);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_FILES_SVG_CHART_H_
