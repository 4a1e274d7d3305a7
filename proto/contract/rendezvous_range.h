// Ports at which the ranks of a gang meet.
#ifndef TRAINYARD_PROTO_CONTRACT_RENDEZVOUS_RANGE_H_
#define TRAINYARD_PROTO_CONTRACT_RENDEZVOUS_RANGE_H_

namespace trainyard {

// The controller chooses rendezvous ports from this range, which is below Linux's ephemeral range.
// Workers check that their node's ephemeral range does not reach into it.
inline constexpr int kFirstRendezvousPort = 20'000;
inline constexpr int kLastRendezvousPort = 29'999;

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_RENDEZVOUS_RANGE_H_
