// The code of jobs, for `describe` and `diff`.
#ifndef TRAINYARD_CLI_OUTPUT_JOBS_CODE_VIEW_H_
#define TRAINYARD_CLI_OUTPUT_JOBS_CODE_VIEW_H_

#include <string>
#include <vector>

#include "cli/output/terminal/table.h"
#include "proto/code/manifest.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard::cli {

// Returns, for example, "1,204 files, 8.1 MB, commit 4c0a1b2c3d4e (main, uncommitted changes),
// snapshot 9f2c4e5d6a7b"; "" without code.
std::string CodeText(const v1::CodeSpec& code);

// A file that differs between two snapshots. One of the two is null if the file was added or
// removed.
struct ChangedFile {
  const code::CodeFile* before = nullptr;
  const code::CodeFile* after = nullptr;

  const std::string& path() const { return after != nullptr ? after->path : before->path; }
};

// Returns the files that differ, sorted by path. The manifests must outlive the result.
std::vector<ChangedFile> ChangedFiles(const code::Manifest& before, const code::Manifest& after);

Listing ChangedFilesListing(const std::vector<ChangedFile>& files);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_JOBS_CODE_VIEW_H_
