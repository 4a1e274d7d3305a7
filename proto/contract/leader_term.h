// Terms of leadership among several controllers, as fields of messages. Term 1 is left out, because
// it is the only term of a controller on SQLite, and of every earlier release.
#ifndef TRAINYARD_PROTO_CONTRACT_LEADER_TERM_H_
#define TRAINYARD_PROTO_CONTRACT_LEADER_TERM_H_

#include <algorithm>
#include <cstdint>

namespace trainyard {

inline constexpr int64_t kFirstTerm = 1;

inline int64_t TermOfField(int64_t field) { return std::max(field, kFirstTerm); }

// Calls message.set_leader_term unless the term is the first one.
template <typename Message>
void SetLeaderTerm(int64_t term, Message& message) {
  if (term > kFirstTerm) message.set_leader_term(term);
}

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_LEADER_TERM_H_
