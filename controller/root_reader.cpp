#include "controller/root_reader.h"

#include <sys/stat.h>

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/contract/directory_nonce.h"
#include "proto/support/detached_thread.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller {
namespace {

constexpr std::chrono::seconds kReadEvery{30};

}  // namespace

std::string ReadRootNonce(const std::string& root) {
  struct stat info {};
  if (stat(root.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return "";
  return ReadOrMakeNonce(absl::StrCat(root, "/", kRootNonceFile)).nonce;
}

RootReader::RootReader(std::string root, Report report)
    : root_(std::move(root)), shared_(std::make_shared<Shared>()) {
  shared_->report = std::move(report);
}

RootReader::~RootReader() { Stop(); }

void RootReader::Start() {
  const absl::Status started =
      RunDetached("read the checkpoint root", [shared = shared_, root = root_] {
        for (;;) {
          const std::string nonce = ReadRootNonce(root);
          std::unique_lock lock(shared->mutex);
          if (shared->stopped) return;
          shared->report(nonce);
          if (shared->changed.wait_for(lock, kReadEvery, [&] { return shared->stopped; })) return;
        }
      });
  // The nodes compare what they see without it, too.
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
