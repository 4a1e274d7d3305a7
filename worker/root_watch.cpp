#include "worker/root_watch.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/files/directory_nonce.h"
#include "proto/text/utf8.h"

namespace trainyard::worker {
namespace {

constexpr std::chrono::seconds kLookEvery{30};
// Below the controller's limit of 1024.
constexpr std::size_t kMaxProblemBytes = 512;

v1::CheckpointRoot Problem(const std::string& path, const std::string& problem) {
  v1::CheckpointRoot root;
  root.set_path(path);
  root.set_problem(std::string(Utf8Prefix(problem, kMaxProblemBytes)));
  return root;
}

}  // namespace

v1::CheckpointRoot LookAtRoot(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return Problem(path, absl::StrCat("cannot create the directory: ", error.message()));
  const std::string file = absl::StrCat(path, "/", kRootNonceFile);
  const ReadNonceResult read = ReadOrMakeNonce(file);
  if (read.error.has_value()) {
    const bool is_damaged = read.error->number == EBADMSG;
    return Problem(path, is_damaged ? absl::StrCat(read.error->action, "; remove that file")
                                    : absl::StrCat(read.error->action, ": ",
                                                   std::strerror(read.error->number)));
  }
  v1::CheckpointRoot root;
  root.set_path(path);
  root.set_nonce(read.nonce);
  return root;
}

void RootWatch::Begin(const std::string& path) {
  path_ = path;
  due_ = {};
}

bool RootWatch::Tick(Clock::time_point now) {
  bool is_news = false;
  if (auto seen = running_.Take(); seen.has_value() && seen->path() == path_) {
    is_news = Note(*std::move(seen));
  }
  if (path_.empty()) return is_news;
  if (running_.IsRunning()) {
    if (now - begun_ < kAnswerLimit || std::exchange(is_late_reported_, true)) return is_news;
    return Note(
        Problem(path_, absl::StrCat("the directory has not answered for ", kAnswerLimit.count(),
                                    " s; check the file server of the directory")));
  }
  if (now < due_) return is_news;
  due_ = now + kLookEvery;
  begun_ = now;
  is_late_reported_ = false;
  // If no thread can be started, the next round tries again.
  running_.Begin("read the checkpoint root", [look = look_, path = path_] { return look(path); });
  return is_news;
}

bool RootWatch::Note(v1::CheckpointRoot seen) {
  const bool is_news = seen.path() != newest_.path() || seen.nonce() != newest_.nonce() ||
                       seen.problem() != newest_.problem();
  newest_ = std::move(seen);
  has_report_ = true;
  return is_news;
}

std::optional<v1::CheckpointRoot> RootWatch::TakeReport() {
  if (!std::exchange(has_report_, false)) return std::nullopt;
  return newest_;
}

}  // namespace trainyard::worker
