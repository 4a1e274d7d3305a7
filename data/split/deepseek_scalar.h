// SplitRule::kDeepseek3, one character at a time.
#ifndef TRAINYARD_DATA_SPLIT_DEEPSEEK_SCALAR_H_
#define TRAINYARD_DATA_SPLIT_DEEPSEEK_SCALAR_H_

#include <cstddef>
#include <string_view>

namespace trainyard::data {

// As ScalarPieceEnd.
size_t DeepseekPieceEnd(std::string_view text, size_t begin);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_SPLIT_DEEPSEEK_SCALAR_H_
