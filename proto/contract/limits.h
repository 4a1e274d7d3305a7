// Maximum sizes that more than one program relies on: sender and receiver truncate or reject at the
// same number. Limits of a single file are defined in that file.
#ifndef TRAINYARD_PROTO_CONTRACT_LIMITS_H_
#define TRAINYARD_PROTO_CONTRACT_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace trainyard {

// Slots of one node.
inline constexpr int kMaxSlotsOfNode = 1024;
// Ranks of one gang. The largest published run, Llama 3 405B, has 16,384.
inline constexpr int kMaxRanks = 16'384;
// Largest step number: far beyond any run, and safe in sums and doubles.
inline constexpr int64_t kMaxStep = 1'000'000'000'000;
// Series keys in one request.
inline constexpr int kMaxSeriesKeys = 64;

// Bytes of a job file, and of the spec made from it.
inline constexpr std::size_t kMaxJobFileBytes = 1 << 20;
// Bytes of a job name; the pattern in `job_spec.proto` has the same limit.
inline constexpr std::size_t kMaxJobNameBytes = 63;
// Bytes of the identity of a node or of one start of its worker.
inline constexpr std::size_t kMaxIdBytes = 128;
// Bytes of a host name or address: the limit of domain names (RFC 1035, section 2.3.4).
inline constexpr std::size_t kMaxHostBytes = 255;
// Bytes of a user name or of a request id.
inline constexpr std::size_t kMaxUserBytes = 128;
// Bytes of a sentence written by a user, such as the reason of a cordon, and of a reference to a
// job or a node.
inline constexpr std::size_t kMaxReasonBytes = 256;
// Bytes of an alert message.
inline constexpr std::size_t kMaxAlertBytes = 1024;
// Bytes of a rank's final output shown in the verdict.
inline constexpr std::size_t kMaxLogTailBytes = 8192;

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_LIMITS_H_
