#include "trainer/start/shared_directory.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <thread>
#include <vector>

#include "proto/contract/rank_set.h"
#include "proto/files/directory_nonce.h"
#include "trainer/checkpoint/durable_file.h"
#include "trainer/checkpoint/manifest.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

// A client of a network file system sees a new file within seconds. A rank that does not see the
// file waits this long before the gang is refused.
constexpr std::chrono::seconds kSeeLimit{5};
constexpr std::chrono::milliseconds kLongestPause{200};

// Ranks exchange text as sums of doubles. Each double carries kDigitsPerValue hexadecimal digits or
// kBytesPerValue bytes.
constexpr std::size_t kDigitsPerValue = 8;
constexpr std::size_t kBytesPerValue = 6;
constexpr std::size_t kHostValues = 8;

// Broadcasts the nonce of rank 0 and returns it. The other ranks pass an empty nonce.
std::string ShareNonce(Communicator& world, torch::Device device, const std::string& nonce) {
  std::vector<double> values(kNonceDigits / kDigitsPerValue, 0);
  for (std::size_t i = 0; i < values.size() && !nonce.empty(); ++i) {
    values[i] = static_cast<double>(
        std::stoul(nonce.substr(i * kDigitsPerValue, kDigitsPerValue), nullptr, 16));
  }
  std::string shared;
  for (const double value : SumOverMembers(world, values, device)) {
    std::array<char, kDigitsPerValue + 1> digits{};
    std::snprintf(digits.data(), digits.size(), "%08x", static_cast<unsigned>(value));
    shared += digits.data();
  }
  return shared;
}

// Polls until what_is_wrong() returns "", at most for kSeeLimit. Returns the latest result.
std::string AwaitSight(const std::function<std::string()>& what_is_wrong) {
  const auto end = std::chrono::steady_clock::now() + kSeeLimit;
  for (std::chrono::milliseconds pause(2);; pause = std::min(pause * 2, kLongestPause)) {
    std::string wrong = what_is_wrong();
    if (wrong.empty() || std::chrono::steady_clock::now() >= end) return wrong;
    std::this_thread::sleep_for(pause);
  }
}

// Encodes whether this rank sees a difference, and its host name, as values that can be summed over
// all ranks.
std::vector<double> SightOf(bool differs) {
  std::array<char, kHostValues * kBytesPerValue> host{};
  gethostname(host.data(), host.size() - 1);
  std::vector<double> values = {differs ? 1.0 : 0.0};
  for (std::size_t i = 0; i < kHostValues; ++i) {
    double value = 0;
    for (std::size_t byte = 0; byte < kBytesPerValue; ++byte) {
      value = value * 256 + static_cast<unsigned char>(host[i * kBytesPerValue + byte]);
    }
    values.push_back(value);
  }
  return values;
}

std::string HostIn(const double* values) {
  std::string host;
  for (std::size_t i = 0; i < kHostValues; ++i) {
    const auto value = static_cast<uint64_t>(values[i]);
    for (std::size_t byte = kBytesPerValue; byte-- > 0;) {
      host.push_back(static_cast<char>(value >> (8 * byte) & 255));
    }
  }
  return host.substr(0, host.find('\0'));
}

// `same` names the ranks that see the shared file, such as "rank 0 on a". `other` names the ranks
// that do not, such as "ranks 2,3 on b and ranks 4,5 on c".
struct Sights {
  std::string same, other;
};

std::string RanksOnHosts(const std::map<std::string, std::vector<int64_t>>& ranks_by_host) {
  std::string text;
  for (const auto& [host, ranks] : ranks_by_host) {
    text += (text.empty() ? "" : " and ") + std::string(ranks.size() == 1 ? "rank " : "ranks ") +
            RankSetText(ranks) + " on " + host;
  }
  return text;
}

Sights CompareSights(Communicator& world, torch::Device device, bool differs) {
  if (SumOverMembers(world, {differs ? 1.0 : 0.0}, device)[0] == 0) return {};
  const std::vector<double> own = SightOf(differs);
  std::vector<double> all(own.size() * static_cast<std::size_t>(world.size()), 0);
  std::copy(own.begin(), own.end(),
            all.begin() + static_cast<std::ptrdiff_t>(own.size()) * world.rank());
  all = SumOverMembers(world, all, device);
  std::map<std::string, std::vector<int64_t>> same, other;
  for (std::size_t i = 0; i < static_cast<std::size_t>(world.size()); ++i) {
    const double* values = &all[i * own.size()];
    (values[0] == 0 ? same : other)[HostIn(values + 1)].push_back(world.ranks()[i]);
  }
  return {RanksOnHosts(same), RanksOnHosts(other)};
}

// If the gang has shared the directory before, the directory is now missing on some node, so a
// retry may succeed on other nodes or after a remount (kTryAgain). At the job's first start, the
// settings are wrong (kBadConfig).
ExitCode CodeOf(const RuntimeEnvironment& env) {
  const bool has_shared =
      env.generation > 1 || env.resume_from.starts_with(env.checkpoint_dir + "/");
  return has_shared ? ExitCode::kTryAgain : ExitCode::kBadConfig;
}

[[noreturn]] void Refuse(const RuntimeEnvironment& env, const std::string& what,
                         const Sights& sights) {
  throw TrainerError(
      CodeOf(env), what + " is not on storage that all ranks share: " +
                       (sights.same.empty() ? "it is not visible to "
                                            : "it is visible to " + sights.same + " but not to ") +
                       sights.other +
                       ". Mount the same storage at this path on every node, or set "
                       "checkpoint.dir to a directory that the nodes share.");
}

}  // namespace

ClaimedDirectory ClaimDirectory(Communicator& world, torch::Device device,
                                const RuntimeEnvironment& env, bool checks_owner) {
  const std::string& directory = env.checkpoint_dir;
  std::string nonce;
  if (env.rank == 0) {
    if (checks_owner) CheckOwnerHasEnded(directory, WriterOf(env), env.live_jobs);
    RaiseFence(directory, WriterOf(env));
    nonce = SignClaim(directory, WriterOf(env));
  }
  nonce = ShareNonce(world, device, nonce);
  const std::string difference =
      AwaitSight([&] { return ClaimDifference(directory, WriterOf(env), nonce); });
  const Sights sights = CompareSights(world, device, !difference.empty());
  if (!sights.other.empty()) Refuse(env, "The checkpoint directory " + directory, sights);
  return ClaimedDirectoryAt(directory, nonce);
}

void CheckAllSeeCheckpoint(Communicator& world, torch::Device device, const RuntimeEnvironment& env,
                           const std::string& checkpoint) {
  const auto is_missing = [&] { return FileBytes(checkpoint + "/" + kManifestName) < 0; };
  const bool nobody_sees = SumOverMembers(world, {is_missing() ? 0.0 : 1.0}, device)[0] == 0;
  if (nobody_sees) return;  // The reader will report the error.
  const std::string missing = AwaitSight([&] { return is_missing() ? "missing" : ""; });
  const Sights sights = CompareSights(world, device, !missing.empty());
  if (!sights.other.empty()) Refuse(env, "The checkpoint " + checkpoint, sights);
}

}  // namespace trainyard::trainer
