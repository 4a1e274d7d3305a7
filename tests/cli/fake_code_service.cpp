#include "tests/cli/fake_code_service.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "proto/code/blob_pack.h"
#include "proto/code/manifest.h"

namespace trainyard::cli {

grpc::Status FakeCodeService::FindMissingCode(grpc::ServerContext* /*context*/,
                                              const v1::FindMissingCodeRequest* request,
                                              v1::FindMissingCodeResponse* response) {
  const std::lock_guard lock(mutex_);
  const auto manifest = blobs_.find(request->snapshot());
  if (manifest == blobs_.end()) {
    response->add_digests(request->snapshot());
  } else {
    for (const std::string& digest : code::ReadManifest(manifest->second)->Digests()) {
      if (!blobs_.contains(digest)) response->add_digests(digest);
    }
  }
  const bool lacks_diff = !request->diff().empty() && !blobs_.contains(request->diff());
  if (lacks_diff) response->add_digests(request->diff());
  return grpc::Status::OK;
}

grpc::Status FakeCodeService::StoreCode(grpc::ServerContext* /*context*/,
                                        const v1::StoreCodeRequest* request,
                                        v1::StoreCodeResponse* /*response*/) {
  if (before_store) before_store();
  const absl::StatusOr<std::vector<code::Blob>> blobs = code::ReadPack(request->pack());
  if (!blobs.ok()) {
    return {grpc::StatusCode::INVALID_ARGUMENT, std::string(blobs.status().message())};
  }
  const std::lock_guard lock(mutex_);
  for (const code::Blob& blob : *blobs) {
    sent.push_back(blob.content);
    if (!loses_packs) blobs_[blob.digest] = blob.content;
  }
  return grpc::Status::OK;
}

grpc::Status FakeCodeService::FetchCode(grpc::ServerContext* /*context*/,
                                        const v1::FetchCodeRequest* request,
                                        v1::FetchCodeResponse* response) {
  const std::lock_guard lock(mutex_);
  code::PackBuilder builder;
  for (const std::string& digest : request->digests()) {
    const auto blob = blobs_.find(digest);
    if (blob == blobs_.end()) return {grpc::StatusCode::NOT_FOUND, "the store has no blob"};
    if (!builder.Add(digest, blob->second)) break;
  }
  response->set_pack(builder.Finish());
  return grpc::Status::OK;
}

std::string FakeCodeService::Add(const std::string& content) {
  const std::lock_guard lock(mutex_);
  const std::string digest = code::DigestOf(content);
  blobs_[digest] = content;
  return digest;
}

std::string FakeCodeService::AddSnapshot(const std::map<std::string, std::string>& files) {
  code::Manifest manifest;
  for (const auto& [path, content] : files) {
    code::CodeFile& file = manifest.files.emplace_back();
    file.path = path;
    if (absl::EndsWith(path, ".sh")) file.kind = code::FileKind::kExecutable;
    file.bytes = static_cast<int64_t>(content.size());
    if (!content.empty()) file.pieces = {Add(content)};
  }
  return Add(*code::WriteManifest(manifest));
}

std::string FakeCodeService::BlobOf(const std::string& digest) const {
  const std::lock_guard lock(mutex_);
  const auto blob = blobs_.find(digest);
  EXPECT_NE(blob, blobs_.end()) << digest;
  return blob == blobs_.end() ? "" : blob->second;
}

std::map<std::string, std::string> FakeCodeService::FilesOf(const std::string& snapshot) const {
  const absl::StatusOr<code::Manifest> manifest = code::ReadManifest(BlobOf(snapshot));
  std::map<std::string, std::string> files;
  if (!manifest.ok()) return files;
  for (const code::CodeFile& file : manifest->files) {
    for (const std::string& digest : file.pieces) files[file.path] += BlobOf(digest);
  }
  return files;
}

}  // namespace trainyard::cli
