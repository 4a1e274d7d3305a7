#include "proto/parsers/output_parser.h"

#include <algorithm>
#include <utility>

#include "proto/contract/limits.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/parsers/log_fields.h"

namespace trainyard {

bool MergeSameStep(const LogParser& parser, const v1::MetricsRecord& metrics,
                   v1::MetricsRecord& last) {
  if (!parser.NeedsContext() || last.step() != metrics.step()) return false;
  if (metrics.total_steps() > 0) last.set_total_steps(metrics.total_steps());
  for (const auto& [name, value] : metrics.values()) SetValue(last, name, value);
  for (const std::string& set : metrics.evaluation_sets()) {
    const auto loss = metrics.values().find(telemetry::EvaluationLoss(set));
    if (loss != metrics.values().end()) SetEvaluationLoss(last, set, loss->second);
  }
  return true;
}

OutputParser::OutputParser(const LogParser& parser, Found found)
    : parser_(parser), found_(std::move(found)) {}

namespace {

// Finds the ends of lines. Searching for single characters is several times as fast as
// find_first_of. The next line feed is remembered, so that output with many carriage returns is
// not searched again for each of them.
class LineEnds {
 public:
  explicit LineEnds(std::string_view bytes) : bytes_(bytes) {}

  // Returns the first end at or after `from`, or npos. `from` must not decrease.
  std::size_t Next(std::size_t from) {
    if (!is_known_ || line_feed_ < from) {
      line_feed_ = bytes_.find('\n', from);
      is_known_ = true;
    }
    const std::size_t length =
        line_feed_ == std::string_view::npos ? line_feed_ : line_feed_ - from;
    const std::size_t carriage_return = bytes_.substr(from, length).find('\r');
    return carriage_return == std::string_view::npos ? line_feed_ : from + carriage_return;
  }

 private:
  const std::string_view bytes_;
  std::size_t line_feed_ = 0;
  bool is_known_ = false;
};

}  // namespace

void OutputParser::Add(std::string_view bytes) {
  LineEnds ends(bytes);
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t end = ends.Next(at);
    const std::size_t space = kMaxLineBytes - rest_.size();
    if (end != std::string_view::npos && end - at <= space) {
      if (rest_.empty()) {
        AddLine(bytes.substr(at, end - at));
      } else {
        rest_.append(bytes.substr(at, end - at));
        AddLine(std::exchange(rest_, {}));
      }
      at = end + 1;
      continue;
    }
    // The line is incomplete, or it is too long and is read in pieces.
    const std::string_view piece = bytes.substr(at, space);
    rest_.append(piece);
    at += piece.size();
    if (rest_.size() == kMaxLineBytes && at < bytes.size()) AddLine(std::exchange(rest_, {}));
  }
}

void OutputParser::End() {
  AddLine(std::exchange(rest_, {}));
  Flush();
}

void OutputParser::AddLine(std::string_view line) {
  if (line.empty()) return;
  ++lines_;
  std::optional<v1::MetricsRecord> metrics = parser_.Parse(line, context_);
  if (!metrics.has_value()) return;
  if (last_.has_value() && MergeSameStep(parser_, *metrics, *last_)) return;
  Flush();
  last_ = std::move(metrics);
}

void OutputParser::Flush() {
  if (!last_.has_value()) return;
  ++records_;
  found_(*std::exchange(last_, std::nullopt));
}

}  // namespace trainyard
