// Maximum sizes that several programs use, because the sender and the receiver must truncate or
// reject at the same limit. A limit used by a single file is defined in that file.
#ifndef TRAINYARD_PROTO_CONTRACT_LIMITS_H_
#define TRAINYARD_PROTO_CONTRACT_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace trainyard {

// The maximum number of slots of one node.
inline constexpr int kMaxSlotsOfNode = 1024;
// The maximum number of ranks in one gang, as in the largest published run (Llama 3 405B).
inline constexpr int kMaxRanks = 16'384;
// The largest step number. No run has nearly as many steps. The number is so small that step
// numbers and their sums are exact as integers and as doubles.
inline constexpr int64_t kMaxStep = 1'000'000'000'000;
// The maximum number of series keys in one request.
inline constexpr int kMaxSeriesKeys = 64;

// The maximum size of a job file, and of the job specification made from it.
inline constexpr std::size_t kMaxJobFileBytes = 1 << 20;
// The maximum size of a job name. The pattern in `job_spec.proto` has the same limit.
inline constexpr std::size_t kMaxJobNameBytes = 63;
// The maximum size of a node id, and of an incarnation id.
inline constexpr std::size_t kMaxIdBytes = 128;
// The maximum size of a host name or address. Equals the limit on domain names (RFC 1035, section
// 2.3.4).
inline constexpr std::size_t kMaxHostBytes = 255;
// The maximum size of a user name, and of a request id.
inline constexpr std::size_t kMaxUserBytes = 128;
// The maximum size of a sentence written by a user, such as the reason of a cordon. The limit also
// applies to a reference to a job or node.
inline constexpr std::size_t kMaxReasonBytes = 256;
// The maximum time from the start of a drain of a node to its deadline: 30 days.
inline constexpr int64_t kLongestDrainMs = int64_t{30} * 24 * 3600 * 1000;
// The maximum size of a user's note on a step of a job, and the maximum number of notes per job.
inline constexpr std::size_t kMaxNoteBytes = 500;
inline constexpr int kMaxNotesOfJob = 200;
// The maximum size of one text, and of all package names, in the record of a job's software. The
// controller keeps one such record for each job in memory.
inline constexpr std::size_t kMaxEnvironmentTextBytes = 512;
inline constexpr std::size_t kMaxEnvironmentPackagesBytes = 12 << 10;
// The maximum size of a command of `exec`, and of one piece of its input or output.
inline constexpr std::size_t kMaxExecCommandBytes = 64 << 10;
inline constexpr std::size_t kMaxExecPieceBytes = 64 << 10;
// The maximum number of exec sessions on one node. Each session has a process of its own on the
// node, which uses about 20 MB of memory.
inline constexpr int kMaxExecSessionsOfNode = 8;
// The maximum size of an alert message.
inline constexpr std::size_t kMaxAlertBytes = 1024;
// The maximum size of the part of a rank's final output that the verdict shows.
inline constexpr std::size_t kMaxLogTailBytes = 8192;

// Limits on a line of telemetry, and on the metrics that are read from a line of output.
inline constexpr std::size_t kMaxTelemetryKeys = 256;
inline constexpr std::size_t kMaxTelemetryKeyBytes = 128;
// The maximum size of a line of telemetry or output. A longer line of output is read in pieces.
inline constexpr std::size_t kMaxLineBytes = 64 << 10;

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_LIMITS_H_
