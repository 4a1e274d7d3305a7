// The store of code snapshots of a FakeServer, in memory.
#ifndef TRAINYARD_TESTS_CLI_FAKE_CODE_SERVICE_H_
#define TRAINYARD_TESTS_CLI_FAKE_CODE_SERVICE_H_

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "grpcpp/grpcpp.h"
#include "trainyard/v1/code_service.grpc.pb.h"

namespace trainyard::cli {

class FakeCodeService final : public v1::CodeService::Service {
 public:
  grpc::Status FindMissingCode(grpc::ServerContext* context,
                               const v1::FindMissingCodeRequest* request,
                               v1::FindMissingCodeResponse* response) override;
  grpc::Status StoreCode(grpc::ServerContext* context, const v1::StoreCodeRequest* request,
                         v1::StoreCodeResponse* response) override;
  grpc::Status FetchCode(grpc::ServerContext* context, const v1::FetchCodeRequest* request,
                         v1::FetchCodeResponse* response) override;

  // Use the members below on the test's thread, between calls.

  // Adds a blob and returns its digest.
  std::string Add(const std::string& content);
  // Adds a snapshot of files, by path, and returns its id. Paths that end with ".sh" are
  // executable.
  std::string AddSnapshot(const std::map<std::string, std::string>& files);
  std::string BlobOf(const std::string& digest) const;
  // Returns the contents of the snapshot's files, by path.
  std::map<std::string, std::string> FilesOf(const std::string& snapshot) const;

  // Called before a pack is stored.
  std::function<void()> before_store;
  // True: packs get lost after the call has succeeded.
  bool loses_packs = false;
  // Contents that were sent, in order.
  std::vector<std::string> sent;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> blobs_;
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_TESTS_CLI_FAKE_CODE_SERVICE_H_
