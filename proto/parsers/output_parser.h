// Reads metrics from the output of a program: splits the output into lines, and joins the lines of
// one step.
#ifndef TRAINYARD_PROTO_PARSERS_OUTPUT_PARSER_H_
#define TRAINYARD_PROTO_PARSERS_OUTPUT_PARSER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "proto/parsers/line_parser.h"
#include "trainyard/v1/telemetry.pb.h"

namespace trainyard {

// Adds `metrics` to the preceding record `last` and returns true, if the program prints the metrics
// of a step on several lines and both belong to the same step.
bool MergeSameStep(const LogParser& parser, const v1::MetricsRecord& metrics,
                   v1::MetricsRecord& last);

// Line feeds and carriage returns end a line, as in the worker. Used by one thread.
class OutputParser {
 public:
  using Found = std::function<void(const v1::MetricsRecord&)>;

  // `parser` must outlive this object. `found` is called for each record, in order.
  OutputParser(const LogParser& parser, Found found);

  // Adds the next bytes of the output.
  void Add(std::string_view bytes);
  // Reads the last line, even if it has no line end.
  void End();

  // The lines read so far that are not empty, and the records found in them.
  int64_t lines() const { return lines_; }
  int64_t records() const { return records_; }

 private:
  void AddLine(std::string_view line);
  void Flush();

  const LogParser& parser_;
  const Found found_;
  LineContext context_;
  // The start of a line that has no end yet, at most kMaxLineBytes.
  std::string rest_;
  std::optional<v1::MetricsRecord> last_;
  int64_t lines_ = 0;
  int64_t records_ = 0;
};

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_PARSERS_OUTPUT_PARSER_H_
