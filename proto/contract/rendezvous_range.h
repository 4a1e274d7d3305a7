// The ports on which the ranks of a gang first connect to each other.
#ifndef TRAINYARD_PROTO_CONTRACT_RENDEZVOUS_RANGE_H_
#define TRAINYARD_PROTO_CONTRACT_RENDEZVOUS_RANGE_H_

namespace trainyard {

// The controller chooses rendezvous ports from this range, which is below Linux's default ephemeral
// range. Each worker checks that the ephemeral range of its node does not overlap this port range.
inline constexpr int kFirstRendezvousPort = 20'000;
inline constexpr int kLastRendezvousPort = 29'999;

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_RENDEZVOUS_RANGE_H_
