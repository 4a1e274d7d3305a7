// Describes the ranks of a group in a short text. For example, "0-12/4" means every fourth rank
// from 0 to 12, and "0,1,5" means these three ranks.
#ifndef TRAINYARD_PROTO_CONTRACT_RANK_SET_H_
#define TRAINYARD_PROTO_CONTRACT_RANK_SET_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

// Rank numbers must be below this limit, which is far above the size of any gang. The limit
// prevents a short text from making the parser allocate much memory.
inline constexpr int64_t kMaxRanksInSet = 1 << 20;

// ranks: ascending.
std::string RankSetText(const std::vector<int64_t>& ranks);

// Returns the ranks in ascending order; nullopt if the text is malformed.
std::optional<std::vector<int64_t>> ParseRankSet(std::string_view text);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_RANK_SET_H_
