// Reads metrics from the output of llm.c and nanochat, which print one line per step with fields
// between vertical bars.
#ifndef TRAINYARD_PROTO_PARSERS_STEP_LINE_PARSERS_H_
#define TRAINYARD_PROTO_PARSERS_STEP_LINE_PARSERS_H_

#include <optional>
#include <string>
#include <string_view>

#include "proto/parsers/line_parser.h"

namespace trainyard {

//   "step    1/19560 | loss 10.9 (+nanz)| norm 14.0 (+nanz)| lr 8.57e-07 | 3056.36 ms |
//    42.6% bf16 MFU | 171535 tok/s"
//   "val loss 10.5", which belongs to the newest step
class LlmCParser : public LogParser {
 public:
  bool NeedsContext() const override { return true; }

 protected:
  bool MayHoldRecord(std::string_view line) const override;
  std::optional<v1::MetricsRecord> ParseText(const std::string& text,
                                             LineContext& context) const override;
};

//   "step 00005/21400 (0.02%) | loss: 9.5 | grad norm: 0.5 | lrm: 1.00 | dt: 480.12ms |
//    tok/sec: 1,092,123 | mfu: 48.21 | total time: 0.50m"
//   "Step 00250 | Validation bpb: 1.1234"
class NanochatParser : public LogParser {
 protected:
  bool MayHoldRecord(std::string_view line) const override;
  std::optional<v1::MetricsRecord> ParseText(const std::string& text,
                                             LineContext& context) const override;
};

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_PARSERS_STEP_LINE_PARSERS_H_
