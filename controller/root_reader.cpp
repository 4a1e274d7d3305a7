#include "controller/root_reader.h"

#include <sys/stat.h>

#include <chrono>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/files/directory_nonce.h"
#include "proto/support/detached_thread.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller {
namespace {

constexpr std::chrono::seconds kReadEvery{30};
constexpr mode_t kRootMode = 0755;

}  // namespace

std::string ReadRootNonce(const std::string& root, const std::string& data_dir) {
  const bool is_own = !data_dir.empty() && absl::StartsWith(root, absl::StrCat(data_dir, "/"));
  // Ignore the error: a missing directory is detected later.
  if (is_own) mkdir(root.c_str(), kRootMode);
  struct stat info {};
  if (stat(root.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return "";
  return ReadOrMakeNonce(absl::StrCat(root, "/", kRootNonceFile)).nonce;
}

RootReader::RootReader(std::string root, std::string data_dir, Loop& loop)
    : root_(std::move(root)),
      data_dir_(std::move(data_dir)),
      loop_(loop),
      shared_(std::make_shared<Shared>()) {}

RootReader::~RootReader() { Stop(); }

void RootReader::Start() {
  const auto read = [shared = shared_, root = root_, data_dir = data_dir_, loop = &loop_] {
    for (;;) {
      const std::string nonce = ReadRootNonce(root, data_dir);
      std::unique_lock lock(shared->mutex);
      // After Stop, the loop may no longer exist.
      if (shared->stopped) return;
      loop->Post([loop, nonce] { loop->observations().roots.controllers_nonce = nonce; });
      if (shared->changed.wait_for(lock, kReadEvery, [&] { return shared->stopped; })) return;
    }
  };
  const absl::Status started = RunDetached("read the checkpoint root", read);
  // Continue after a failure: even without the controller's nonce, the nodes' nonces are compared
  // with each other.
  if (!started.ok()) spdlog::warn("{}", started.ToString());
}

void RootReader::Stop() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stopped = true;
  }
  shared_->changed.notify_all();
}

}  // namespace trainyard::controller
