// Decodes a group of documents of SPLIT.sources.
#ifndef TRAINYARD_DATA_TOKENS_SOURCE_GROUP_H_
#define TRAINYARD_DATA_TOKENS_SOURCE_GROUP_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "data/tokens/source_format.h"

namespace trainyard::data {

struct SourceDocument {
  SourcePlace place;
  int64_t first_token = 0;  // of the split
  int64_t tokens = 0;       // including those around the document
};

// Returns the documents of a group whose tokens are [first_token, end) of the split; nullopt if the
// group is damaged.
std::optional<std::vector<SourceDocument>> ParseSourceGroup(std::string_view group,
                                                            int64_t first_token, int64_t end);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENS_SOURCE_GROUP_H_
