#include "data/tokens/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "proto/files/unique_fd.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

absl::Status CannotWrite(const std::string& path, int error) {
  const std::string message = "cannot write " + path + ": " + std::strerror(error);
  if (error != ENOSPC && error != EDQUOT) return absl::InternalError(message);
  return absl::ResourceExhaustedError(message +
                                      "; free disk space, or choose another directory with --out");
}

}  // namespace

absl::StatusOr<std::unique_ptr<OutputFile>> OutputFile::Create(const std::string& path) {
  auto file = std::unique_ptr<OutputFile>(new OutputFile(path));
  TRAINYARD_RETURN_IF_ERROR(file->ToStatus(file->file_.CreateNew(path, {.mode = 0644})));
  return file;
}

absl::Status OutputFile::ToStatus(const FileResult& result) const {
  return result.has_value() ? CannotWrite(path_, result->number) : absl::OkStatus();
}

absl::Status OutputFile::Write(std::string_view bytes) { return ToStatus(file_.Append(bytes)); }

absl::Status OutputFile::Close() { return ToStatus(file_.Finish()); }

absl::Status WriteWholeFile(const std::string& path, std::string_view text) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file, OutputFile::Create(path));
  TRAINYARD_RETURN_IF_ERROR(file->Write(text));
  return file->Close();
}

absl::Status OverwriteStart(const std::string& path, std::string_view bytes) {
  const UniqueFd file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0) return CannotWrite(path, errno);
  if (const FileResult failed = WriteAll(file.get(), bytes, path)) {
    return CannotWrite(path, failed->number);
  }
  return fsync(file.get()) == 0 ? absl::OkStatus() : CannotWrite(path, errno);
}

}  // namespace trainyard::data
