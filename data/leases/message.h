// The messages between the processes of a run.
#ifndef TRAINYARD_DATA_LEASES_MESSAGE_H_
#define TRAINYARD_DATA_LEASES_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "data/stages/part_names.h"

namespace trainyard::data {

// A message is a length in 4 bytes, little-endian, and a JSON object. Records of blocks are the
// largest messages: a record lists up to 1,000 bad lines for each of 256 files.
inline constexpr size_t kMessageBytesMax = size_t{64} << 20;
// Limit for replies, and for requests of a process that has not proved its identity.
inline constexpr size_t kSmallMessageBytesMax = size_t{64} << 10;
// Longer error messages are cut.
inline constexpr size_t kErrorBytesMax = size_t{8} << 10;
inline constexpr size_t kLengthBytes = 4;

// A process asks, and rank 0 answers each request at once. A connection begins with kHello and
// kProof.
enum class RequestType {
  kHello,   // `group`, `rank`, `nonce`
  kProof,   // `proof`: ClientProof
  kNext,    // `pass`: the number of passes that the process has helped with
  kTake,    // `pass`
  kRecord,  // `pass`, `lease`, `text`: a line of records.log
  kFail,    // `pass`, `lease`, `code`, `text`: the failure of a block
  kPing,    // keeps the connection alive
};

struct Request {
  RequestType type = RequestType::kPing;
  std::string group;  // equal in all processes of a run
  int rank = 0;
  uint64_t pass = 0;
  BlockLease lease;
  int code = 0;  // absl::StatusCode
  std::string text;
  std::string nonce;
  std::string proof;
};

enum class ReplyType {
  kOk,
  kChallenge,  // `name` of the key, `nonce`, `proof`: ServerProof
  kPass,       // `pass`, `name`, `plan`: the pass to help with
  kBlock,      // `lease`
  kWait,       // nothing to do now
  kEnded,      // of kNext: the run is complete; of kTake: the pass needs no help
  kFailed,     // the run failed: `text`
  kRefused     // `text`
};

struct Reply {
  ReplyType type = ReplyType::kOk;
  uint64_t pass = 0;
  std::string name;
  std::string plan;  // hash
  BlockLease lease;
  std::string text;
  std::string nonce;
  std::string proof;
};

// Return a message with its length.
std::string EncodeRequest(const Request& request);
std::string EncodeReply(const Reply& reply);

// Returns InvalidArgument if the length in `bytes`, which must have kLengthBytes, is 0 or above
// `most`.
absl::StatusOr<size_t> DecodeLength(std::string_view bytes, size_t most);

// Returns the beginning of an error message, at most kErrorBytesMax.
std::string ErrorText(absl::string_view message);

// Read a message without its length. Return InvalidArgument for text that the functions above do
// not write.
absl::StatusOr<Request> DecodeRequest(std::string_view json);
absl::StatusOr<Reply> DecodeReply(std::string_view json);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_LEASES_MESSAGE_H_
