#include "controller/storage/code_cleaner.h"

#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "proto/support/status_macros.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller {
namespace {

constexpr std::chrono::seconds kLoopWait{30};
constexpr int kPage = 500;

struct UsedCode {
  std::set<std::string> snapshots;
  std::set<std::string> diffs;
};

void AddCode(const v1::JobSpec& spec, UsedCode& used) {
  if (!spec.code().snapshot().empty()) used.snapshots.insert(spec.code().snapshot());
  if (!spec.code().record().diff().empty()) used.diffs.insert(spec.code().record().diff());
}

absl::StatusOr<UsedCode> CodeInState(ClusterLoop& loop) {
  const auto answer = std::make_shared<std::promise<UsedCode>>();
  std::future<UsedCode> found = answer->get_future();
  loop.Read([answer](const ClusterView& view) {
    UsedCode used;
    for (const auto& [id, entry] : view.state.jobs) AddCode(entry.job.spec(), used);
    answer->set_value(std::move(used));
  });
  if (found.wait_for(kLoopWait) != std::future_status::ready) {
    return absl::UnavailableError("the loop did not answer");
  }
  return found.get();
}

absl::Status AddCodeOfArchive(JobArchive& archive, UsedCode& used) {
  v1::ListJobsRequest request;
  std::optional<JobPlace> after;
  for (;;) {
    TRAINYARD_ASSIGN_OR_RETURN(const ArchivedPage page, archive.List(request, after, kPage));
    for (const v1::ArchivedJob& archived : page.jobs) AddCode(archived.job().spec(), used);
    if (page.jobs.size() < static_cast<std::size_t>(kPage)) return absl::OkStatus();
    const v1::ArchivedJob& last = page.jobs.back();
    after = PlaceIn(request, last.job(), last.job().progress());
  }
}

}  // namespace

CodeCleaner::~CodeCleaner() { Stop(); }

void CodeCleaner::Start() {
  if (store_ != nullptr) thread_ = std::thread([this] { Run(); });
}

void CodeCleaner::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

absl::StatusOr<int64_t> CodeCleaner::Clean(int64_t now_ms) {
  // A job that moves to the archive in between is found in the state. The store protects the code
  // of a job that is submitted in between.
  TRAINYARD_ASSIGN_OR_RETURN(UsedCode used, CodeInState(loop_));
  TRAINYARD_RETURN_IF_ERROR(AddCodeOfArchive(archive_, used));
  return store_->RemoveUnused(used.snapshots, used.diffs, now_ms);
}

void CodeCleaner::Run() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (changed_.wait_for(lock, kPeriod, [this] { return stopping_; })) return;
    }
    const absl::StatusOr<int64_t> freed = Clean(code::BlobStore::NowMs());
    if (!freed.ok()) {
      spdlog::warn("cannot remove unused code: {}; the next try is in an hour",
                   std::string(freed.status().message()));
    } else if (*freed > 0) {
      spdlog::info("removed code that no job uses: {} bytes", *freed);
    }
  }
}

}  // namespace trainyard::controller
