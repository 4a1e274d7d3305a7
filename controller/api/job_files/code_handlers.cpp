#include "controller/api/job_files/code_handlers.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/api/job_files/code_sources.h"
#include "proto/code/blob_store.h"
#include "proto/jobspec/rules/code_rules.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

using code::BlobStore;

constexpr std::size_t kMaxNodeText = 300;

absl::Status NoStore() {
  return absl::FailedPreconditionError(
      "this controller keeps its data in memory and cannot store code; start it with --data-dir");
}

// Calls `work` with the store on a reader thread, and sends its result.
template <typename Response, typename Work>
void OnReader(const Api& api, Work work, Reply<Response> reply) {
  if (api.code_store == nullptr) return reply(NoStore());
  const bool queued = api.readers.TryPost(
      [&store = *api.code_store, work = std::move(work), reply] { reply(work(store)); });
  if (!queued) reply(ReaderPool::Busy());
}

absl::Status CheckDigest(const std::string& digest, const char* name) {
  if (code::IsDigest(digest)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("`", name, "` must have 64 digits 0-9 and a-f, as `trainyard describe` shows"));
}

absl::StatusOr<std::vector<std::string>> MissingOf(BlobStore& store, const std::string& snapshot,
                                                   const std::string& diff) {
  TRAINYARD_RETURN_IF_ERROR(CheckDigest(snapshot, "snapshot"));
  TRAINYARD_ASSIGN_OR_RETURN(std::vector<std::string> missing,
                             store.Missing(snapshot, BlobStore::NowMs()));
  if (diff.empty()) return missing;
  TRAINYARD_RETURN_IF_ERROR(CheckDigest(diff, "diff"));
  const bool listed = std::ranges::find(missing, diff) != missing.end();
  if (!listed && !store.Has(diff, BlobStore::NowMs())) missing.push_back(diff);
  return missing;
}

absl::Status CheckSourceRequest(const v1::FindCodeSourceRequest& request) {
  TRAINYARD_RETURN_IF_ERROR(CheckDigest(request.snapshot(), "snapshot"));
  const bool is_short = request.node().size() <= kMaxNodeText &&
                        request.address().size() <= kMaxNodeText &&
                        request.failed().size() <= kMaxNodeText;
  if (!request.node().empty() && is_short) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("`node` must not be empty, and `node`, `address` and `failed` have at most ",
                   kMaxNodeText, " bytes"));
}

}  // namespace

void handlers::FindMissingCode(const Api& api, const Principal& /*principal*/,
                               v1::FindMissingCodeRequest request,
                               Reply<v1::FindMissingCodeResponse> reply) {
  const auto find = [request = std::move(request)](
                        BlobStore& store) -> absl::StatusOr<v1::FindMissingCodeResponse> {
    TRAINYARD_ASSIGN_OR_RETURN(const std::vector<std::string> missing,
                               MissingOf(store, request.snapshot(), request.diff()));
    v1::FindMissingCodeResponse response;
    response.mutable_digests()->Assign(missing.begin(), missing.end());
    return response;
  };
  OnReader<v1::FindMissingCodeResponse>(api, find, std::move(reply));
}

void handlers::StoreCode(const Api& api, const Principal& /*principal*/,
                         v1::StoreCodeRequest request, Reply<v1::StoreCodeResponse> reply) {
  const auto store_pack = [request =
                               std::make_shared<const v1::StoreCodeRequest>(std::move(request))](
                              BlobStore& store) -> absl::StatusOr<v1::StoreCodeResponse> {
    TRAINYARD_RETURN_IF_ERROR(store.Add(request->pack(), BlobStore::NowMs()));
    return v1::StoreCodeResponse();
  };
  OnReader<v1::StoreCodeResponse>(api, store_pack, std::move(reply));
}

void handlers::FetchCode(const Api& api, const Principal& /*principal*/,
                         v1::FetchCodeRequest request, Reply<v1::FetchCodeResponse> reply) {
  if (request.digests_size() > code::kMaxSnapshotFiles) {
    return reply(absl::InvalidArgumentError(absl::StrCat("`digests` has ", request.digests_size(),
                                                         " entries; at most ",
                                                         code::kMaxSnapshotFiles, " are allowed")));
  }
  const auto fetch = [request = std::make_shared<const v1::FetchCodeRequest>(std::move(request))](
                         BlobStore& store) -> absl::StatusOr<v1::FetchCodeResponse> {
    const std::vector<std::string> digests(request->digests().begin(), request->digests().end());
    v1::FetchCodeResponse response;
    TRAINYARD_ASSIGN_OR_RETURN(*response.mutable_pack(), store.Fetch(digests));
    return response;
  };
  OnReader<v1::FetchCodeResponse>(api, fetch, std::move(reply));
}

void handlers::FindCodeSource(const Api& api, const Principal& /*principal*/,
                              v1::FindCodeSourceRequest request,
                              Reply<v1::FindCodeSourceResponse> reply) {
  if (api.code_sources == nullptr) return reply(NoStore());
  if (absl::Status checked = CheckSourceRequest(request); !checked.ok()) return reply(checked);
  const CodeSources::Request asked = {.snapshot = request.snapshot(),
                                      .node = request.node(),
                                      .address = request.address(),
                                      .failed = request.failed()};
  if (request.complete()) {
    api.code_sources->Complete(asked, BlobStore::NowMs());
    return reply(v1::FindCodeSourceResponse());
  }
  const CodeSources::Source source = api.code_sources->Find(asked, BlobStore::NowMs());
  v1::FindCodeSourceResponse response;
  switch (source.kind) {
    case CodeSources::Source::Kind::kController:
      response.set_controller(true);
      break;
    case CodeSources::Source::Kind::kPeer:
      response.set_peer(source.peer);
      break;
    case CodeSources::Source::Kind::kWait:
      response.set_wait_ms(source.wait_ms);
      break;
  }
  reply(std::move(response));
}

absl::Status CheckCodeStored(const Api& api, const v1::JobSpec& spec) {
  if (const std::string problem = MissingSnapshot(spec); !problem.empty()) {
    return absl::InvalidArgumentError(problem);
  }
  const std::string& snapshot = spec.code().snapshot();
  if (snapshot.empty()) return absl::OkStatus();
  if (api.code_store == nullptr) return NoStore();
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<std::string> missing,
                             MissingOf(*api.code_store, snapshot, spec.code().record().diff()));
  if (missing.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the controller does not have the code snapshot ", snapshot.substr(0, 12), " (",
                   missing.size(),
                   " parts are missing); submit the job from its code directory with `code.path`"));
}

}  // namespace trainyard::controller
