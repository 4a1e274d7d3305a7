// A controller and other nodes in memory, from which a worker fetches code.
#ifndef TRAINYARD_TESTS_WORKER_FAKE_CODE_NETWORK_H_
#define TRAINYARD_TESTS_WORKER_FAKE_CODE_NETWORK_H_

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/code/blob_pack.h"
#include "worker/rpc/code_network.h"

namespace trainyard::worker {

class FakeCodeNetwork final : public CodeNetwork {
 public:
  // Adds a blob that the controller and all nodes have, and returns its digest.
  std::string Add(const std::string& content) {
    blobs_[code::DigestOf(content)] = content;
    return code::DigestOf(content);
  }
  static std::string PackOf(const std::string& content) {
    code::PackBuilder builder;
    builder.Add(code::DigestOf(content), content);
    return builder.Finish();
  }

  absl::StatusOr<v1::FindCodeSourceResponse> FindSource(
      const v1::FindCodeSourceRequest& request) override {
    requests.push_back(request);
    if (!find_error.ok()) return find_error;
    v1::FindCodeSourceResponse answer;
    if (sources.empty()) return answer;
    answer = sources.front();
    sources.pop_front();
    return answer;
  }
  absl::StatusOr<std::string> FetchFromController(
      const std::vector<std::string>& digests) override {
    fetches.emplace_back("controller");
    if (!controller_error.ok()) return controller_error;
    return Pack(digests);
  }
  absl::StatusOr<std::string> FetchFromPeer(const std::string& address,
                                            const std::string& /*snapshot*/,
                                            const std::vector<std::string>& digests) override {
    fetches.push_back(address);
    const auto peer = peers.find(address);
    return peer == peers.end() ? Pack(digests) : peer->second;
  }

  // Answers to FindSource in order, then empty answers.
  std::deque<v1::FindCodeSourceResponse> sources;
  absl::Status find_error;
  absl::Status controller_error;
  // Nodes that answer every request with this. All others have the blobs.
  std::map<std::string, absl::StatusOr<std::string>> peers;
  std::vector<v1::FindCodeSourceRequest> requests;
  std::vector<std::string> fetches;  // Sources of all fetches in order.

 private:
  absl::StatusOr<std::string> Pack(const std::vector<std::string>& digests) {
    code::PackBuilder builder;
    for (const std::string& digest : digests) {
      if (!blobs_.contains(digest)) return absl::NotFoundError("no such blob");
      builder.Add(digest, blobs_[digest]);
    }
    return builder.Finish();
  }

  std::map<std::string, std::string> blobs_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_TESTS_WORKER_FAKE_CODE_NETWORK_H_
