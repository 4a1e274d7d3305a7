// Reads metrics from the output of PyTorch Lightning, and of NeMo, which is built on it.
#ifndef TRAINYARD_PROTO_PARSERS_LIGHTNING_PARSER_H_
#define TRAINYARD_PROTO_PARSERS_LIGHTNING_PARSER_H_

#include <optional>
#include <string>
#include <string_view>

#include "proto/parsers/line_parser.h"

namespace trainyard {

// The progress bar of an epoch, and the line that NeMo 2 prints:
//   "Epoch 1:  50%|##   | 50/100 [00:05<00:05, 9.8it/s, v_num=3, train_loss=0.51]"
//   "Training epoch 0, iteration 9/99 | lr: 0.0002 | global_step: 9 | reduced_train_loss: 9.8"
// `global_step` is the step if it is printed. Otherwise the step follows from epoch and position.
class LightningParser : public LogParser {
 protected:
  bool MayHoldRecord(std::string_view line) const override;
  std::optional<v1::MetricsRecord> ParseText(const std::string& text,
                                             LineContext& context) const override;
};

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_PARSERS_LIGHTNING_PARSER_H_
