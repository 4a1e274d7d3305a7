#include "tests/bench/code/code_cluster.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/api/job_files/code_sources.h"
#include "proto/code/blob_store.h"
#include "proto/code/snapshot.h"
#include "proto/support/status_macros.h"
#include "worker/code_trees.h"
#include "worker/rpc/code_peer.h"

namespace trainyard::bench {
namespace {

using controller::CodeSources;
using std::chrono::steady_clock;

const std::string& BenchToken() {
  static const std::string token(64, '7');
  return token;
}

// The controller's part: the store, the choice of sources, and a count of what left the store.
class CodeController {
 public:
  explicit CodeController(std::unique_ptr<code::BlobStore> store) : store_(std::move(store)) {}

  code::BlobStore& store() { return *store_; }

  v1::FindCodeSourceResponse FindSource(const v1::FindCodeSourceRequest& request) {
    const CodeSources::Request asked = {.snapshot = request.snapshot(),
                                        .node = request.node(),
                                        .address = request.address(),
                                        .failed = request.failed()};
    v1::FindCodeSourceResponse response;
    if (request.complete()) {
      sources_.Complete(asked, code::BlobStore::NowMs());
      return response;
    }
    const CodeSources::Source source = sources_.Find(asked, code::BlobStore::NowMs());
    if (source.kind == CodeSources::Source::Kind::kPeer) response.set_peer(source.peer);
    if (source.kind == CodeSources::Source::Kind::kWait) response.set_wait_ms(source.wait_ms);
    return response;
  }

  absl::StatusOr<std::string> Fetch(const std::vector<std::string>& digests) {
    TRAINYARD_ASSIGN_OR_RETURN(std::string pack, store_->Fetch(digests));
    TRAINYARD_ASSIGN_OR_RETURN(const std::vector<code::PackEntry> entries,
                               code::ReadPackIndex(pack));
    const std::lock_guard lock(mutex_);
    bytes_ += static_cast<int64_t>(pack.size());
    for (const code::PackEntry& entry : entries) ++copies_[entry.digest];
    return pack;
  }

  void Fill(CodeClusterReport& report) {
    const std::lock_guard lock(mutex_);
    report.controller_bytes = bytes_;
    for (const auto& [digest, copies] : copies_) {
      report.max_copies = std::max(report.max_copies, copies);
    }
  }

 private:
  const std::unique_ptr<code::BlobStore> store_;
  CodeSources sources_;
  std::mutex mutex_;
  std::map<std::string, int> copies_;
  int64_t bytes_ = 0;
};

class BenchNetwork final : public worker::CodeNetwork {
 public:
  explicit BenchNetwork(CodeController& controller) : controller_(controller) {}

  absl::StatusOr<v1::FindCodeSourceResponse> FindSource(
      const v1::FindCodeSourceRequest& request) override {
    return controller_.FindSource(request);
  }
  absl::StatusOr<std::string> FetchFromController(
      const std::vector<std::string>& digests) override {
    return controller_.Fetch(digests);
  }
  absl::StatusOr<std::string> FetchFromPeer(const std::string& address, const std::string& snapshot,
                                            const std::vector<std::string>& digests) override {
    return worker::FetchCodeFromPeer(address, BenchToken(), snapshot, digests);
  }

 private:
  CodeController& controller_;
};

// Blocks the answers of slow nodes until the end of the measurement.
class Gate {
 public:
  void Wait() {
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [this] { return is_open_; });
  }
  void Open() {
    {
      const std::lock_guard lock(mutex_);
      is_open_ = true;
    }
    opened_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool is_open_ = false;
};

enum class Fault { kNone, kOtherBytes, kUnreachable, kNeverAnswers };

struct BenchNode {
  std::unique_ptr<worker::CodeTrees> trees;
  std::unique_ptr<worker::CodePeerServer> server;
};

absl::StatusOr<BenchNode> StartNode(const std::string& directory, const std::string& id,
                                    Fault fault, CodeController& controller, Gate& gate) {
  BenchNode node;
  node.trees = std::make_unique<worker::CodeTrees>(directory,
                                                   std::make_unique<BenchNetwork>(controller), id);
  const auto pack = [fault, &gate, trees = node.trees.get()](
                        const std::string& snapshot,
                        const std::vector<std::string>& digests) -> absl::StatusOr<std::string> {
    if (fault == Fault::kOtherBytes) return std::string("these bytes are not a pack");
    if (fault == Fault::kNeverAnswers) gate.Wait();
    return trees->Pack(snapshot, digests);
  };
  TRAINYARD_ASSIGN_OR_RETURN(node.server,
                             worker::CodePeerServer::Start(
                                 {.listen = "127.0.0.1:0"},
                                 [] { return absl::StatusOr<std::string>(BenchToken()); }, pack));
  node.trees->ShareAt(node.server->address());
  if (fault == Fault::kUnreachable) node.server = nullptr;
  return node;
}

// Writes files of text with random digits, so that packs are about half as large.
void WriteFiles(const std::string& root, const CodeClusterLoad& load) {
  std::mt19937_64 random(36);
  std::filesystem::create_directories(root);
  const auto size = static_cast<std::size_t>(load.bytes / load.files);
  for (int file = 0; file < load.files; ++file) {
    std::string text;
    while (text.size() < size) absl::StrAppend(&text, random(), "\n");
    text.resize(size);
    std::ofstream(absl::StrCat(root, "/file", file, ".py"), std::ios::binary) << text;
  }
}

absl::StatusOr<std::string> StoreSnapshot(const std::string& root, code::BlobStore& store) {
  TRAINYARD_ASSIGN_OR_RETURN(const code::Snapshot snapshot, code::TakeSnapshot(root, {}, ""));
  const int64_t now_ms = code::BlobStore::NowMs();
  code::PackBuilder builder;
  builder.Add(snapshot.id, snapshot.manifest_text);
  TRAINYARD_RETURN_IF_ERROR(store.Add(builder.Finish(), now_ms));
  TRAINYARD_RETURN_IF_ERROR(
      code::PackFiles(root, snapshot, snapshot.manifest.Digests(),
                      [&](const std::string& pack) { return store.Add(pack, now_ms); }));
  return snapshot.id;
}

// Faulty nodes come first, because the first nodes become the first sources.
Fault FaultOf(int node, int bad_nodes) {
  if (node >= bad_nodes) return Fault::kNone;
  constexpr Fault kFaults[] = {Fault::kOtherBytes, Fault::kUnreachable, Fault::kNeverAnswers};
  return kFaults[node % 3];
}

int PrepareAll(std::vector<BenchNode>& nodes, const std::string& snapshot) {
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (BenchNode& node : nodes) {
    threads.emplace_back([&] { ready += node.trees->Prepare(snapshot).ok() ? 1 : 0; });
  }
  for (std::thread& thread : threads) thread.join();
  return ready;
}

}  // namespace

absl::StatusOr<CodeClusterReport> RunCodeCluster(const CodeClusterLoad& load) {
  const std::string source = load.directory + "/source";
  WriteFiles(source, load);
  TRAINYARD_ASSIGN_OR_RETURN(
      std::unique_ptr<code::BlobStore> store,
      code::BlobStore::Open({.directory = load.directory + "/store"}, code::BlobStore::NowMs()));
  CodeController controller(std::move(store));
  TRAINYARD_ASSIGN_OR_RETURN(const std::string snapshot, StoreSnapshot(source, controller.store()));
  Gate gate;
  std::vector<BenchNode> nodes;
  for (int node = 0; node < load.nodes; ++node) {
    const std::string id = absl::StrCat("node", node);
    TRAINYARD_ASSIGN_OR_RETURN(nodes.emplace_back(),
                               StartNode(absl::StrCat(load.directory, "/", id), id,
                                         FaultOf(node, load.bad_nodes), controller, gate));
  }
  CodeClusterReport report;
  const auto begin = steady_clock::now();
  report.ready_nodes = PrepareAll(nodes, snapshot);
  report.seconds = std::chrono::duration<double>(steady_clock::now() - begin).count();
  gate.Open();
  controller.Fill(report);
  return report;
}

}  // namespace trainyard::bench
