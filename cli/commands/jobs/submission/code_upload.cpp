#include "cli/commands/jobs/submission/code_upload.h"

#include <sys/stat.h>

#include <algorithm>
#include <future>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/code/blob_pack.h"
#include "proto/code/git_state.h"
#include "proto/code/hash_cache.h"
#include "proto/code/size_text.h"
#include "proto/code/snapshot.h"
#include "proto/jobspec/rules/code_rules.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

constexpr std::size_t kNamedLeftOut = 3;
constexpr int kUploads = 2;

code::WalkOptions WalkOptionsOf(const v1::CodeSpec& spec) {
  code::WalkOptions options;
  if (spec.has_max_size()) options.max_bytes = spec.max_size();
  if (spec.has_max_files()) options.max_files = spec.max_files();
  options.ignore.assign(spec.ignore().begin(), spec.ignore().end());
  return options;
}

// Returns the file with the digests of this directory; "" without a home directory.
std::string CachePath(const std::string& directory, const std::string& home) {
  std::string path = home;
  if (path.empty()) return "";
  for (const char* part : {"/.cache", "/trainyard", "/code"}) {
    path += part;
    mkdir(path.c_str(), 0700);
  }
  code::HashCache::RemoveOldCaches(path);
  return absl::StrCat(path, "/", code::DigestOf(directory));
}

void RecordGit(const code::GitState& git, v1::CodeRecord& record) {
  if (!git.commit.empty()) record.set_commit(git.commit);
  if (!git.branch.empty()) record.set_branch(git.branch);
  if (!git.remote.empty()) record.set_remote(git.remote);
  record.set_dirty(git.dirty);
}

void RecordTree(const code::Snapshot& snapshot, v1::CodeRecord& record) {
  record.set_files(static_cast<int64_t>(snapshot.manifest.files.size()));
  record.set_bytes(snapshot.manifest.Bytes());
  record.set_left_out_files(snapshot.tree.left_out_files);
  record.set_left_out_bytes(snapshot.tree.left_out_bytes);
}

// Returns text such as "1,204 files, 8.1 MB; ignored data/ 41.0 GB".
std::string SummaryOf(const code::Snapshot& snapshot) {
  std::string text =
      absl::StrCat(code::GroupedNumber(static_cast<int64_t>(snapshot.manifest.files.size())),
                   snapshot.manifest.files.size() == 1 ? " file, " : " files, ",
                   code::DecimalSize(snapshot.manifest.Bytes()));
  const std::vector<code::LeftOut>& left_out = snapshot.tree.left_out;
  for (std::size_t index = 0; index < std::min(kNamedLeftOut, left_out.size()); ++index) {
    absl::StrAppend(&text, index == 0 ? "; ignored " : ", ", left_out[index].path, " ",
                    code::DecimalSize(left_out[index].bytes));
  }
  if (left_out.size() > kNamedLeftOut || snapshot.tree.left_out_more) {
    absl::StrAppend(&text, " and more (", snapshot.tree.left_out_more ? "at least " : "",
                    code::DecimalSize(snapshot.tree.left_out_bytes), " in all)");
  }
  return text;
}

absl::Status Store(std::string pack, Context& context) {
  v1::StoreCodeRequest request;
  request.set_pack(std::move(pack));
  return context.client.StoreCode(request).status();
}

absl::StatusOr<std::set<std::string>> FindMissing(const code::Snapshot& snapshot,
                                                  const std::string& diff, Context& context) {
  v1::FindMissingCodeRequest request;
  request.set_snapshot(snapshot.id);
  if (!diff.empty()) request.set_diff(code::DigestOf(diff));
  TRAINYARD_ASSIGN_OR_RETURN(const v1::FindMissingCodeResponse response,
                             context.client.FindMissingCode(request));
  return std::set<std::string>(response.digests().begin(), response.digests().end());
}

// Sends the manifest and the difference, as far as the controller lacks them.
absl::Status StoreLists(const code::Snapshot& snapshot, const std::string& diff,
                        const std::set<std::string>& missing, Context& context) {
  for (const std::string* content : {&snapshot.manifest_text, &diff}) {
    if (content->empty() || !missing.contains(code::DigestOf(*content))) continue;
    code::PackBuilder builder;
    builder.Add(code::DigestOf(*content), *content);
    TRAINYARD_RETURN_IF_ERROR(Store(builder.Finish(), context));
  }
  return absl::OkStatus();
}

// Sends the missing files. The next pack is made while the controller stores the one before.
absl::Status StoreFiles(const std::string& directory, const code::Snapshot& snapshot,
                        const std::set<std::string>& missing, Context& context) {
  std::future<absl::Status> storing;
  const auto wait = [&] { return storing.valid() ? storing.get() : absl::OkStatus(); };
  const auto store = [&](std::string pack) -> absl::Status {
    TRAINYARD_RETURN_IF_ERROR(wait());
    storing = std::async(std::launch::async, [&context, pack = std::move(pack)]() mutable {
      return Store(std::move(pack), context);
    });
    return absl::OkStatus();
  };
  TRAINYARD_RETURN_IF_ERROR(code::PackFiles(directory, snapshot, missing, store));
  return wait();
}

absl::Status Send(const std::string& directory, const code::Snapshot& snapshot,
                  const std::string& diff, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(std::set<std::string> missing, FindMissing(snapshot, diff, context));
  if (missing.empty()) return absl::OkStatus();
  TRAINYARD_RETURN_IF_ERROR(StoreLists(snapshot, diff, missing, context));
  // The controller names missing files only after it has the manifest.
  TRAINYARD_ASSIGN_OR_RETURN(missing, FindMissing(snapshot, diff, context));
  TRAINYARD_RETURN_IF_ERROR(StoreFiles(directory, snapshot, missing, context));
  TRAINYARD_ASSIGN_OR_RETURN(missing, FindMissing(snapshot, diff, context));
  if (missing.empty()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("the controller lacks ", missing.size(),
                                          " parts of the code after all were sent; submit again"));
}

// The state of git, read while the snapshot is taken. nullopt: none, or code.git is false.
using ReadingGit = std::shared_future<std::optional<code::GitState>>;

ReadingGit StartReadingGit(const v1::CodeSpec& spec) {
  return std::async(std::launch::async,
                    [directory = spec.path(), reads = !spec.has_git() || spec.git()] {
                      return reads ? code::ReadGitState(directory) : std::nullopt;
                    });
}

std::string DiffOf(const std::optional<code::GitState>& git) {
  return git.has_value() ? git->diff : "";
}

// Takes a snapshot and sends it. If a file changes in between, starts again once.
absl::StatusOr<code::Snapshot> TakeAndSend(const v1::CodeSpec& spec, const ReadingGit& git,
                                           Context& context) {
  const std::string cache = CachePath(spec.path(), context.environment.home);
  absl::Status sent = absl::OkStatus();
  for (int upload = 0; upload < kUploads; ++upload) {
    TRAINYARD_ASSIGN_OR_RETURN(code::Snapshot snapshot,
                               code::TakeSnapshot(spec.path(), WalkOptionsOf(spec), cache));
    sent = Send(spec.path(), snapshot, DiffOf(git.get()), context);
    if (sent.ok()) return snapshot;
    if (!absl::IsAborted(sent)) return sent;
  }
  return sent;
}

// Replaces the path with the snapshot.
void ReplacePath(const code::Snapshot& snapshot, ResolvedSpec& resolved) {
  v1::CodeSpec& spec = *resolved.spec.mutable_code();
  spec.mutable_record()->set_directory(spec.path());
  RecordTree(snapshot, *spec.mutable_record());
  spec.set_snapshot(snapshot.id);
  spec.clear_path();
  spec.clear_ignore();
  spec.clear_max_size();
  spec.clear_max_files();
  const auto origin = resolved.origins.find("code.path");
  const std::string source = origin == resolved.origins.end() ? "" : origin->second;
  std::erase_if(resolved.origins,
                [](const auto& entry) { return absl::StartsWith(entry.first, "code."); });
  if (!source.empty()) resolved.origins["code.snapshot"] = source;
}

}  // namespace

absl::Status UploadCode(ResolvedSpec& resolved, Context& context) {
  if (!resolved.spec.has_code() || !resolved.spec.code().snapshot().empty()) {
    return absl::OkStatus();
  }
  v1::CodeSpec& spec = *resolved.spec.mutable_code();
  spec.clear_record();
  const ReadingGit reading = StartReadingGit(spec);
  std::optional<code::Snapshot> snapshot;
  if (NeedsSnapshot(resolved.spec)) {
    TRAINYARD_ASSIGN_OR_RETURN(snapshot, TakeAndSend(spec, reading, context));
  }
  if (const std::optional<code::GitState>& git = reading.get(); git.has_value()) {
    RecordGit(*git, *spec.mutable_record());
  }
  if (!snapshot.has_value()) return absl::OkStatus();
  if (const std::string diff = DiffOf(reading.get()); !diff.empty()) {
    spec.mutable_record()->set_diff(code::DigestOf(diff));
    spec.mutable_record()->set_diff_cut(reading.get()->diff_cut);
  }
  ReplacePath(*snapshot, resolved);
  PrintNote(context.console, absl::StrCat("code: ", SummaryOf(*snapshot)));
  return absl::OkStatus();
}

}  // namespace trainyard::cli
