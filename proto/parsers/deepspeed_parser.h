// Reads metrics from the lines that the engine of DeepSpeed prints.
#ifndef TRAINYARD_PROTO_PARSERS_DEEPSPEED_PARSER_H_
#define TRAINYARD_PROTO_PARSERS_DEEPSPEED_PARSER_H_

#include <optional>
#include <string>
#include <string_view>

#include "proto/parsers/line_parser.h"

namespace trainyard {

// One step has up to three lines. Only the pipeline engine prints the loss:
//   "[Rank 0] step=10, skipped=0, lr=[0.0001], mom=[(0.9, 0.95)]"
//   "epoch=0/micro_step=80/global_step=10, RunningAvgSamplesPerSec=12.3, CurrSamplesPerSec=12.4,
//    MemAllocated=12.5GB, MaxMemAllocated=30.1GB"
//   "steps: 10 loss: 7.8 iter time (s): 1.234 samples/sec: 12.961"
class DeepSpeedParser : public LogParser {
 protected:
  bool MayHoldRecord(std::string_view line) const override;
  std::optional<v1::MetricsRecord> ParseText(const std::string& text,
                                             LineContext& context) const override;
};

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_PARSERS_DEEPSPEED_PARSER_H_
