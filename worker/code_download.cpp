#include "worker/code_download.h"

#include <algorithm>
#include <set>
#include <thread>
#include <utility>

#include "absl/strings/string_view.h"
#include "proto/support/status_macros.h"
#include "proto/support/status_text.h"
#include "spdlog/spdlog.h"

namespace trainyard::worker {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Limits on the pause that the controller asks for.
constexpr int64_t kMinPauseMs = 10;
constexpr int64_t kMaxPauseMs = 1000;

}  // namespace

v1::FindCodeSourceRequest CodeDownload::Request() const {
  v1::FindCodeSourceRequest request;
  request.set_snapshot(snapshot_);
  request.set_node(node_.id);
  request.set_address(node_.address);
  request.set_failed(failed_);
  return request;
}

void CodeDownload::ChooseSource() {
  is_chosen_ = true;
  peer_.clear();
  if (failures_ >= kMaxFailures) return;
  const auto end = steady_clock::now() + kMaxWait;
  while (steady_clock::now() < end) {
    const absl::StatusOr<v1::FindCodeSourceResponse> answer = network_.FindSource(Request());
    // An older controller does not know the call. Other errors reappear when blobs are fetched.
    if (!answer.ok()) return;
    failed_.clear();
    if (!answer->has_wait_ms()) {
      peer_ = answer->peer();
      return;
    }
    std::this_thread::sleep_for(
        milliseconds(std::clamp(answer->wait_ms(), kMinPauseMs, kMaxPauseMs)));
  }
}

absl::StatusOr<std::vector<code::Blob>> CodeDownload::FetchFromPeer(
    const std::vector<std::string>& digests) const {
  TRAINYARD_ASSIGN_OR_RETURN(std::string pack, network_.FetchFromPeer(peer_, snapshot_, digests));
  TRAINYARD_ASSIGN_OR_RETURN(std::vector<code::Blob> blobs, code::ReadPack(pack));
  const std::set<absl::string_view> requested(digests.begin(), digests.end());
  const bool is_answer = std::ranges::all_of(
      blobs, [&](const code::Blob& blob) { return requested.contains(blob.digest); });
  if (!is_answer) return absl::InvalidArgumentError("the node sent other blobs than requested");
  packs_.Keep(snapshot_, std::move(pack));
  return blobs;
}

absl::StatusOr<std::vector<code::Blob>> CodeDownload::Fetch(
    const std::vector<std::string>& digests) {
  for (;;) {
    if (!is_chosen_) ChooseSource();
    if (peer_.empty()) break;
    absl::StatusOr<std::vector<code::Blob>> blobs = FetchFromPeer(digests);
    if (blobs.ok()) return blobs;
    spdlog::warn("cannot fetch code from the node at {}: {}; trying another source", peer_,
                 Text(blobs.status()));
    failed_ = peer_;
    is_chosen_ = false;
    ++failures_;
  }
  TRAINYARD_ASSIGN_OR_RETURN(std::string pack, network_.FetchFromController(digests));
  TRAINYARD_ASSIGN_OR_RETURN(std::vector<code::Blob> blobs, code::ReadPack(pack));
  packs_.Keep(snapshot_, std::move(pack));
  return blobs;
}

void CodeDownload::Complete() {
  v1::FindCodeSourceRequest request = Request();
  request.set_complete(true);
  // If the report is lost, other nodes use other sources.
  network_.FindSource(request).IgnoreError();
}

}  // namespace trainyard::worker
