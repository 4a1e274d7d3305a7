// The data files of one split, without the description.
#ifndef TRAINYARD_DATA_TOKENS_TOKEN_SINK_H_
#define TRAINYARD_DATA_TOKENS_TOKEN_SINK_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/tokens/hashed_file.h"

namespace trainyard::data {

class TokenSink {
 public:
  virtual ~TokenSink() = default;
  // Writes packed tokens; never a part of a token.
  virtual absl::Status Write(std::string_view packed) = 0;
  // Ends a document of this many tokens, including its marks. Its last tokens may be written later.
  virtual absl::Status EndDocument(int64_t tokens) = 0;
  // Closes all files and returns them in the order of their tokens.
  virtual absl::StatusOr<std::vector<TokenFileFacts>> Finish() = 0;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENS_TOKEN_SINK_H_
