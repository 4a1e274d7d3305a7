#include "cli/commands/jobs/reading/code_diff.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/client/job_reference.h"
#include "cli/grammar/option_help.h"
#include "cli/output/jobs/code_view.h"
#include "cli/output/terminal/table.h"
#include "proto/code/blob_pack.h"
#include "proto/code/line_diff.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

// Lines are shown for at most this many files, and not for larger files.
constexpr std::size_t kMaxComparedFiles = 500;
constexpr int64_t kMaxComparedBytes = 1 << 20;

using Contents = std::map<std::string, std::string>;  // By digest.

struct JobCode {
  v1::Job job;
  code::Manifest manifest;
};

// Adds the blobs to `contents`. Each call of FetchCode returns at least one.
absl::Status FetchBlobs(std::vector<std::string> digests, Context& context, Contents& contents) {
  for (;;) {
    std::erase_if(digests, [&](const std::string& digest) { return contents.contains(digest); });
    if (digests.empty()) return absl::OkStatus();
    v1::FetchCodeRequest request;
    request.mutable_digests()->Assign(digests.begin(), digests.end());
    TRAINYARD_ASSIGN_OR_RETURN(const v1::FetchCodeResponse response,
                               context.client.FetchCode(request));
    TRAINYARD_ASSIGN_OR_RETURN(std::vector<code::Blob> blobs, code::ReadPack(response.pack()));
    for (code::Blob& blob : blobs) contents[blob.digest] = std::move(blob.content);
  }
}

absl::StatusOr<v1::Job> GetJob(const std::string& reference, Context& context) {
  v1::GetJobRequest request;
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_job(), ParseWholeJob(reference));
  TRAINYARD_ASSIGN_OR_RETURN(v1::GetJobResponse response, context.client.GetJob(request));
  return std::move(*response.mutable_job());
}

absl::StatusOr<JobCode> CodeOf(const std::string& reference, Context& context) {
  JobCode code;
  TRAINYARD_ASSIGN_OR_RETURN(code.job, GetJob(reference, context));
  const std::string& id = code.job.spec().code().snapshot();
  if (id.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("job ", code.job.id(),
                     " has no copy of its code; `code: {path: .}` in a job file makes one"));
  }
  Contents contents;
  TRAINYARD_RETURN_IF_ERROR(FetchBlobs({id}, context, contents));
  TRAINYARD_ASSIGN_OR_RETURN(code.manifest, code::ReadManifest(contents[id]));
  return code;
}

bool IsComparable(const code::CodeFile* file) {
  return file == nullptr || file->bytes <= kMaxComparedBytes;
}

std::string FileText(const code::CodeFile* file, const Contents& contents) {
  std::string text;
  if (file == nullptr) return text;
  for (const std::string& digest : file->pieces) absl::StrAppend(&text, contents.at(digest));
  return text;
}

std::string NameOf(const char* side, const code::CodeFile* file) {
  return file == nullptr ? "/dev/null" : absl::StrCat(side, "/", file->path);
}

void PrintLines(const ChangedFile& file, const Contents& contents, Console& console) {
  const std::optional<std::string> lines =
      code::UnifiedDiff(FileText(file.before, contents), FileText(file.after, contents));
  if (!lines.has_value()) {
    *console.out << "\n" << file.path() << ": binary, or too many lines differ\n";
  } else if (lines->empty()) {
    *console.out << "\n" << file.path() << ": only the mode differs\n";
  } else {
    *console.out << "\n--- " << NameOf("a", file.before) << "\n+++ " << NameOf("b", file.after)
                 << "\n"
                 << *lines;
  }
}

absl::Status PrintAllLines(std::vector<ChangedFile> files, Context& context) {
  std::erase_if(files, [](const ChangedFile& file) {
    return !IsComparable(file.before) || !IsComparable(file.after);
  });
  if (files.size() > kMaxComparedFiles) {
    PrintNote(context.console, absl::StrCat("lines are shown for the first ", kMaxComparedFiles,
                                            " of ", files.size(), " files"));
    files.resize(kMaxComparedFiles);
  }
  for (const ChangedFile& file : files) {
    Contents contents;
    std::vector<std::string> digests;
    for (const code::CodeFile* one : {file.before, file.after}) {
      if (one != nullptr) digests.insert(digests.end(), one->pieces.begin(), one->pieces.end());
    }
    TRAINYARD_RETURN_IF_ERROR(FetchBlobs(std::move(digests), context, contents));
    PrintLines(file, contents, context.console);
  }
  return absl::OkStatus();
}

void PrintHead(const JobCode& code, Console& console) {
  *console.out << "job " << code.job.id() << " " << code.job.name() << ": "
               << CodeText(code.job.spec().code()) << "\n";
}

// Prints the difference between the commit and the files at the time of the submission.
Outcome PrintUncommitted(const std::string& reference, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const v1::Job job, GetJob(reference, context));
  const v1::CodeRecord& record = job.spec().code().record();
  if (record.diff().empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("job ", job.id(),
                     " has no stored uncommitted changes; name a second job to "
                     "compare their code"));
  }
  Contents contents;
  TRAINYARD_RETURN_IF_ERROR(FetchBlobs({record.diff()}, context, contents));
  *context.console.out << contents[record.diff()];
  if (record.diff_cut()) {
    PrintNote(context.console, "only the first megabyte of the uncommitted changes was stored");
  }
  return ExitCode::kOk;
}

}  // namespace

void AddCodeDiff(CLI::App& parent, Grammar& grammar) {
  const auto options = std::make_shared<CodeDiffOptions>();
  CLI::App* command = parent.add_subcommand("diff",
                                            "Show how the code of two jobs differs, or the "
                                            "uncommitted changes of one job");
  command->add_option("before", options->before, kJobHelp)->required();
  command->add_option("after", options->after, kJobHelp);
  command->add_flag("--files", options->files_only, "list the files only, without their lines");
  grammar.runners[command] = [options](Context& context) { return RunCodeDiff(*options, context); };
}

Outcome RunCodeDiff(const CodeDiffOptions& options, Context& context) {
  if (options.after.empty()) return PrintUncommitted(options.before, context);
  TRAINYARD_ASSIGN_OR_RETURN(const JobCode before, CodeOf(options.before, context));
  TRAINYARD_ASSIGN_OR_RETURN(const JobCode after, CodeOf(options.after, context));
  const std::vector<ChangedFile> files = ChangedFiles(before.manifest, after.manifest);
  Console& console = context.console;
  if (!IsTable(context.format)) {
    PrintListing(ChangedFilesListing(files), context.format, console);
    return ExitCode::kOk;
  }
  PrintHead(before, console);
  PrintHead(after, console);
  if (files.empty()) {
    *console.out << "both jobs run the same code\n";
    return ExitCode::kOk;
  }
  PrintListing(ChangedFilesListing(files), context.format, console);
  if (!options.files_only) TRAINYARD_RETURN_IF_ERROR(PrintAllLines(files, context));
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
