// Reads metrics from the output of OLMo and OLMo-core.
#ifndef TRAINYARD_PROTO_PARSERS_OLMO_PARSER_H_
#define TRAINYARD_PROTO_PARSERS_OLMO_PARSER_H_

#include <optional>
#include <string>
#include <string_view>

#include "proto/parsers/line_parser.h"

namespace trainyard {

// The output has a line with the step, followed by one line per metric. OLMo-core adds an estimate
// to the line with the step:
//   "2026-01-01 10:00:01.000  node-1:0  olmo.train:956  INFO  [step=1/739328,epoch=0]"
//   "    train/CrossEntropyLoss=9.900"
//   "    throughput/device/tokens_per_second=4,121"
// The metrics of an evaluation follow the line with the newest step.
class OlmoParser : public LogParser {
 public:
  explicit OlmoParser(int world_size) : world_size_(world_size) {}

  bool NeedsContext() const override { return true; }

 protected:
  bool MayHoldRecord(std::string_view line) const override;
  std::optional<v1::MetricsRecord> ParseText(const std::string& text,
                                             LineContext& context) const override;

 private:
  void SetField(const std::string& name, double value, v1::MetricsRecord& record) const;

  const int world_size_;
};

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_PARSERS_OLMO_PARSER_H_
