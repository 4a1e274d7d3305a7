// Creates the files of a split in the chosen format.
#ifndef TRAINYARD_DATA_TOKENS_MAKE_TOKEN_SINK_H_
#define TRAINYARD_DATA_TOKENS_MAKE_TOKEN_SINK_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "data/tokenizer/tokenizer.h"
#include "data/tokens/output_format.h"
#include "data/tokens/token_sink.h"

namespace trainyard::data {

absl::StatusOr<std::unique_ptr<TokenSink>> MakeTokenSink(OutputFormat format,
                                                         const std::string& directory,
                                                         const std::string& split,
                                                         const Tokenizer& tokenizer);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENS_MAKE_TOKEN_SINK_H_
