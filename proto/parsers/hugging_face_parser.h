// Reads metrics from the output of the Trainer of Hugging Face Transformers, and of programs that
// are built on it (TRL, Axolotl, LLaMA-Factory).
#ifndef TRAINYARD_PROTO_PARSERS_HUGGING_FACE_PARSER_H_
#define TRAINYARD_PROTO_PARSERS_HUGGING_FACE_PARSER_H_

#include <optional>
#include <string>
#include <string_view>

#include "proto/parsers/line_parser.h"

namespace trainyard {

// The Trainer prints the metrics of a step as a Python dictionary. Only the progress bar shows the
// step, so the progress bar must not be disabled:
//   " 10%|#         | 10/100 [00:10<01:30,  1.00s/it]"
//   "{'loss': 3.9, 'grad_norm': 1.21, 'learning_rate': 4.5e-05, 'epoch': 0.1}"
//   "{'eval_loss': 2.1, 'eval_runtime': 3.1, 'epoch': 0.1}"
// Newer versions write the numbers as strings; older ones write the step as 'step'.
class HuggingFaceParser : public LogParser {
 public:
  bool NeedsContext() const override { return true; }

 protected:
  bool MayHoldRecord(std::string_view line) const override;
  std::optional<v1::MetricsRecord> ParseText(const std::string& text,
                                             LineContext& context) const override;
};

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_PARSERS_HUGGING_FACE_PARSER_H_
