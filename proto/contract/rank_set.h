// Ranks of a group as short text: "0-12/4" are 0, 4, 8 and 12; "0,1,5" are three ranks.
#ifndef TRAINYARD_PROTO_CONTRACT_RANK_SET_H_
#define TRAINYARD_PROTO_CONTRACT_RANK_SET_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

// Exclusive limit on ranks, far above any gang. Bounds the memory that a short text can request.
inline constexpr int64_t kMaxRanksInSet = 1 << 20;

// ranks: ascending.
std::string RankSetText(const std::vector<int64_t>& ranks);

// The ranks, ascending; nullopt if the text is malformed.
std::optional<std::vector<int64_t>> ParseRankSet(std::string_view text);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_RANK_SET_H_
