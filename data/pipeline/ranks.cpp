#include "data/pipeline/ranks.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/contract/environment.h"
#include "proto/contract/exit_code.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

using Read = std::function<const char*(const char* name)>;

constexpr int kRanksMax = 4096;
constexpr int kOmpThreadsMax = 1024;

std::string TextOf(const Read& read, const char* name) {
  const char* const value = read(name);
  return value == nullptr ? "" : value;
}

absl::StatusOr<int> NumberOf(const Read& read, const char* name, int least, int most) {
  const std::string text = TextOf(read, name);
  int number = 0;
  if (absl::SimpleAtoi(text, &number) && number >= least && number <= most) return number;
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is \"", text, "\" and must be an integer from ", least, " to ", most,
                   "; start the program as a job or by torchrun"));
}

}  // namespace

absl::StatusOr<Ranks> ReadRanks(const Read& read) {
  Ranks ranks;
  ranks.telemetry = TextOf(read, environment::kTelemetry);
  ranks.is_rank = !ranks.telemetry.empty();
  if (read("OMP_NUM_THREADS") != nullptr) {
    TRAINYARD_ASSIGN_OR_RETURN(ranks.threads, NumberOf(read, "OMP_NUM_THREADS", 1, kOmpThreadsMax));
  }
  if (read(environment::kWorldSize) == nullptr) return ranks;
  ranks.is_rank = true;
  TRAINYARD_ASSIGN_OR_RETURN(ranks.world_size,
                             NumberOf(read, environment::kWorldSize, 1, kRanksMax));
  TRAINYARD_ASSIGN_OR_RETURN(ranks.rank,
                             NumberOf(read, environment::kRank, 0, ranks.world_size - 1));
  ranks.attempt = TextOf(read, environment::kJobId) + "/" + TextOf(read, environment::kAttempt);
  if (ranks.world_size == 1) return ranks;
  TRAINYARD_ASSIGN_OR_RETURN(const int port,
                             NumberOf(read, environment::kMasterPort, 1, UINT16_MAX));
  ranks.port = static_cast<uint16_t>(port);
  ranks.address = TextOf(read, environment::kMasterAddress);
  if (!ranks.address.empty()) return ranks;
  return absl::InvalidArgumentError("MASTER_ADDR is not set; set it to the host of rank 0");
}

int ExitCodeOfRank(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return static_cast<int>(ExitCode::kOk);
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kAlreadyExists:
      return static_cast<int>(ExitCode::kBadConfig);
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kPermissionDenied:
      return static_cast<int>(ExitCode::kNoInput);
    case absl::StatusCode::kDataLoss:
      return static_cast<int>(ExitCode::kBadData);
    case absl::StatusCode::kUnavailable:
      return static_cast<int>(ExitCode::kPeerLost);
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kFailedPrecondition:
      return static_cast<int>(ExitCode::kTryAgain);
    case absl::StatusCode::kResourceExhausted:
      return static_cast<int>(ExitCode::kCannotWrite);
    case absl::StatusCode::kCancelled:
      return static_cast<int>(ExitCode::kTerminated);
    default:
      return static_cast<int>(ExitCode::kInternal);
  }
}

}  // namespace trainyard::data
