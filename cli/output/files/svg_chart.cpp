#include "cli/output/files/svg_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/output/terminal/readable.h"

namespace trainyard::cli {
namespace {

// Sizes in pixels.
constexpr double kWidth = 760;
constexpr double kLeft = 84;
constexpr double kRight = 24;
constexpr double kTop = 44;
constexpr double kPlotHeight = 340;
constexpr double kLineHeight = 20;

// Colors that people with red-green color blindness can distinguish (Okabe and Ito).
constexpr std::array<const char*, 6> kColors = {"#0072b2", "#d55e00", "#009e73",
                                                "#cc79a7", "#e69f00", "#56b4e9"};

const char* ColorOf(size_t index) { return kColors[index % kColors.size()]; }

std::string Begin(double height, const std::string& title) {
  return absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f "
      "%.0f\" font-family=\"sans-serif\" font-size=\"13\" role=\"img\">\n<title>%s</title>\n<rect "
      "width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n<text x=\"%.0f\" y=\"26\" "
      "font-size=\"16\" fill=\"#222222\">%s</text>\n",
      kWidth, height, kWidth, height, EscapeXml(title), kLeft, EscapeXml(title));
}

std::string TextAt(double x, double y, const char* anchor, const std::string& text) {
  return absl::StrFormat(
      "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"#222222\">%s</text>\n", x, y, anchor,
      EscapeXml(text));
}

std::string Rule(double x1, double y1, double x2, double y2) {
  return absl::StrFormat(
      "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#dddddd\"/>\n", x1, y1, x2,
      y2);
}

// Maps the values of one axis to pixels.
class Scale {
 public:
  Scale(bool is_logarithmic, double from, double to)
      : is_logarithmic_(is_logarithmic), from_(from), to_(to) {}

  bool Draws(double value) const { return std::isfinite(value) && (!is_logarithmic_ || value > 0); }
  void Include(double value) {
    if (!Draws(value)) return;
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  // Widens the range on both sides if the axis has at most one distinct value.
  void Finish() {
    if (low_ > high_) low_ = high_ = 1;
    if (low_ < high_) return;
    const double room = is_logarithmic_ ? 0 : std::max(std::abs(low_) / 2, 0.5);
    low_ = is_logarithmic_ ? low_ / 10 : low_ - room;
    high_ = is_logarithmic_ ? high_ * 10 : high_ + room;
  }
  double At(double value) const {
    const double part = is_logarithmic_ ? std::log(value / low_) / std::log(high_ / low_)
                                        : (value - low_) / (high_ - low_);
    return from_ + part * (to_ - from_);
  }
  std::vector<double> Ticks(int count) const {
    return TicksOf(low_, high_, count, is_logarithmic_);
  }

 private:
  bool is_logarithmic_;
  double from_;
  double to_;
  double low_ = std::numeric_limits<double>::max();
  double high_ = std::numeric_limits<double>::lowest();
};

class LinePlot {
 public:
  explicit LinePlot(const LineChart& chart)
      : chart_(chart),
        x_(chart.x.is_logarithmic, kLeft, kWidth - kRight),
        y_(chart.y.is_logarithmic, kTop + kPlotHeight, kTop) {
    for (const ChartLine& line : chart.lines) {
      for (const ChartPoint& point : line.points) Include(point);
    }
    for (const ChartMark& mark : chart.marks) Include(mark.at);
    x_.Finish();
    y_.Finish();
  }

  std::string Text() const {
    const double legend = kTop + kPlotHeight + 58;
    std::string svg =
        Begin(legend + kLineHeight * static_cast<double>(chart_.lines.size()) + 8, chart_.title);
    absl::StrAppend(&svg, Axes());
    for (size_t i = 0; i < chart_.lines.size(); ++i) {
      absl::StrAppend(
          &svg, Path(chart_.lines[i], ColorOf(i)),
          Legend(chart_.lines[i].label, ColorOf(i), legend + kLineHeight * static_cast<double>(i)));
    }
    for (size_t i = 0; i < chart_.marks.size(); ++i) absl::StrAppend(&svg, Marked(i));
    return absl::StrCat(svg, "</svg>\n");
  }

 private:
  void Include(const ChartPoint& point) {
    if (!x_.Draws(point.x) || !y_.Draws(point.y)) return;
    x_.Include(point.x);
    y_.Include(point.y);
  }

  std::string Axes() const {
    const double bottom = kTop + kPlotHeight, middle = (kLeft + kWidth - kRight) / 2;
    std::string svg;
    for (const double tick : x_.Ticks(7)) {
      absl::StrAppend(&svg, Rule(x_.At(tick), kTop, x_.At(tick), bottom),
                      TextAt(x_.At(tick), bottom + 18, "middle", NumberText(tick, 4)));
    }
    for (const double tick : y_.Ticks(6)) {
      absl::StrAppend(&svg, Rule(kLeft, y_.At(tick), kWidth - kRight, y_.At(tick)),
                      TextAt(kLeft - 8, y_.At(tick) + 4, "end", NumberText(tick, 4)));
    }
    const double y = kTop + kPlotHeight / 2;
    return absl::StrCat(
        svg, TextAt(middle, bottom + 38, "middle", chart_.x.label),
        absl::StrFormat("<text x=\"18\" y=\"%.1f\" text-anchor=\"middle\" fill=\"#222222\" "
                        "transform=\"rotate(-90 18 %.1f)\">%s</text>\n",
                        y, y, EscapeXml(chart_.y.label)));
  }

  std::string Path(const ChartLine& line, const char* color) const {
    std::string points;
    for (const ChartPoint& point : line.points) {
      if (!x_.Draws(point.x) || !y_.Draws(point.y)) continue;
      absl::StrAppend(&points, points.empty() ? "" : " ",
                      absl::StrFormat("%.1f,%.1f", x_.At(point.x), y_.At(point.y)));
    }
    return absl::StrFormat(
        "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", points,
        color);
  }

  static std::string Legend(const std::string& label, const char* color, double y) {
    return absl::StrCat(
        absl::StrFormat("<rect x=\"%.1f\" y=\"%.1f\" width=\"18\" height=\"4\" fill=\"%s\"/>\n",
                        kLeft, y - 6, color),
        TextAt(kLeft + 26, y, "start", label));
  }

  // Draws the mark's text on the side with more space. Each further mark's text is further away. A
  // white edge separates the text from lines.
  std::string Marked(size_t index) const {
    const ChartMark& mark = chart_.marks[index];
    if (!x_.Draws(mark.at.x) || !y_.Draws(mark.at.y)) return "";
    const double x = x_.At(mark.at.x), y = y_.At(mark.at.y);
    const bool is_right = x > (kLeft + kWidth - kRight) / 2;
    const double further = kLineHeight * static_cast<double>(index);
    const double above = y > kTop + 60 ? -10 - further : 22 + further;
    return absl::StrFormat(
        "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" fill=\"#222222\"/>\n<g stroke=\"#ffffff\" "
        "stroke-width=\"4\" paint-order=\"stroke\">%s</g>\n",
        x, y, TextAt(x + (is_right ? -8 : 8), y + above, is_right ? "end" : "start", mark.label));
  }

  const LineChart& chart_;
  Scale x_;
  Scale y_;
};

}  // namespace

std::string EscapeXml(const std::string& text) {
  std::string escaped;
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    const bool is_control = code < 0x20 && letter != '\t' && letter != '\n' && letter != '\r';
    if (letter == '&') {
      escaped += "&amp;";
    } else if (letter == '<') {
      escaped += "&lt;";
    } else if (letter == '>') {
      escaped += "&gt;";
    } else if (letter == '"') {
      escaped += "&quot;";
    } else if (letter == '\'') {
      escaped += "&#39;";
    } else {
      escaped += is_control ? '?' : letter;
    }
  }
  return escaped;
}

std::vector<double> TicksOf(double low, double high, int count, bool is_logarithmic) {
  std::vector<double> ticks;
  if (is_logarithmic) {
    const double first = std::ceil(std::log10(low) - 1e-9);
    const double last = std::floor(std::log10(high) + 1e-9);
    const double step = std::max(std::ceil((last - first + 1) / count), 1.0);
    for (double power = first; power <= last; power += step) ticks.push_back(std::pow(10, power));
    if (ticks.size() > 1) return ticks;
    ticks.clear();  // With fewer than two powers of ten in range, ticks are linear.
  }
  const double rough = (high - low) / count;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double digit = rough / power;
  const double step = power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
  for (double index = std::ceil(low / step - 1e-9); index * step <= high + 1e-9 * step; ++index) {
    ticks.push_back(index * step);
  }
  return ticks;
}

std::string SvgOf(const LineChart& chart) { return LinePlot(chart).Text(); }

std::string SvgOf(const BarChart& chart) {
  constexpr double kLabels = 200, kRow = 30, kTexts = 150;
  double most = 0;
  for (const ChartBar& bar : chart.bars) most = std::max(most, bar.value);
  std::string svg = Begin(kTop + kRow * static_cast<double>(chart.bars.size()) + 16, chart.title);
  double y = kTop;
  for (size_t i = 0; i < chart.bars.size(); ++i, y += kRow) {
    const ChartBar& bar = chart.bars[i];
    const double width = most > 0 ? bar.value / most * (kWidth - kLabels - kTexts) : 0;
    absl::StrAppend(
        &svg, TextAt(kLabels - 10, y + 18, "end", bar.label),
        absl::StrFormat("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"20\" fill=\"%s\"/>\n",
                        kLabels, y + 4, width, ColorOf(i)),
        TextAt(kLabels + width + 8, y + 18, "start", bar.text));
  }
  return absl::StrCat(svg, "</svg>\n");
}

}  // namespace trainyard::cli
