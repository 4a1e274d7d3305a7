#include "controller/api/deletion/directory_use.h"

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/support/detached_thread.h"

namespace trainyard::controller {
namespace {

namespace fs = std::filesystem;

// The maximum number of concurrent searches for all callers together. Includes searches blocked by
// a file server.
constexpr int kMaxSearches = 16;

std::atomic<int> searches = 0;

// Shared by the caller and the search thread.
struct Search {
  std::vector<DirectoryOfJob> others;
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t done = 0;
  std::optional<DirectoryOfJob> user;

  bool is_over() const { return user.has_value() || done == others.size(); }
};

absl::Status NoAnswer(const std::string& path) {
  return absl::UnavailableError(absl::StrCat(
      "cannot check whether another job uses the directory, because ", path,
      " does not answer; check the file server of that path, or stop the jobs that use it"));
}

}  // namespace

bool LeadsInto(const std::string& path, const FileIdentity& directory) {
  std::error_code error;
  fs::path real = fs::weakly_canonical(path, error);
  if (error) return false;
  for (; real.has_relative_path(); real = real.parent_path()) {
    const std::optional<FilePlace> place = trainyard::PlaceOf(AT_FDCWD, real.c_str());
    if (place.has_value() && place->identity == directory) return true;
  }
  return false;
}

absl::Status UsedBy(const DirectoryOfJob& job) {
  return absl::FailedPreconditionError(
      absl::StrCat("job ", job.job_id, " uses the same directory (", job.path, ")"));
}

absl::Status CheckNoJobUses(const FileIdentity& directory, std::vector<DirectoryOfJob> others,
                            std::chrono::milliseconds limit,
                            std::function<bool(const std::string&, const FileIdentity&)> leads) {
  if (others.empty()) return absl::OkStatus();
  if (searches.load() >= kMaxSearches) return NoAnswer(others.front().path);
  const auto search = std::make_shared<Search>();
  search->others = std::move(others);
  ++searches;
  const absl::Status started =
      RunDetached("look for users of a directory", [search, directory, leads = std::move(leads)] {
        for (const DirectoryOfJob& other : search->others) {
          const bool is_used = leads(other.path, directory);
          const std::lock_guard lock(search->mutex);
          ++search->done;
          if (is_used) search->user = other;
          search->changed.notify_all();
          if (is_used) break;
        }
        --searches;
      });
  if (!started.ok()) {
    --searches;
    return absl::UnavailableError(started.message());
  }
  std::unique_lock lock(search->mutex);
  if (!search->changed.wait_for(lock, limit, [&] { return search->is_over(); })) {
    return NoAnswer(search->others[search->done].path);
  }
  return search->user.has_value() ? UsedBy(*search->user) : absl::OkStatus();
}

}  // namespace trainyard::controller
