#include "proto/code/tree_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/code/blob_pack.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"

namespace trainyard::code {
namespace {

std::size_t PieceBytes(const CodeFile& file, std::size_t piece) {
  return std::min<std::size_t>(kPieceBytes,
                               static_cast<std::size_t>(file.bytes) - piece * kPieceBytes);
}

mode_t ModeOf(const CodeFile& file) { return file.kind == FileKind::kExecutable ? 0555 : 0444; }

absl::Status WriteAt(int fd, absl::string_view content, std::size_t offset,
                     const std::string& path) {
  while (!content.empty()) {
    const ssize_t written = pwrite(fd, content.data(), content.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return ErrnoStatus(errno, "cannot write", path);
    content.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::size_t>(written);
  }
  return absl::OkStatus();
}

}  // namespace

TreeWriter::TreeWriter(std::string directory, const Manifest& manifest)
    : directory_(std::move(directory)), manifest_(manifest) {
  std::set<std::string> directories = {""};
  for (std::size_t index = 0; index < manifest_.files.size(); ++index) {
    const CodeFile& file = manifest_.files[index];
    for (std::size_t slash = file.path.find('/'); slash != std::string::npos;
         slash = file.path.find('/', slash + 1)) {
      directories.insert("/" + file.path.substr(0, slash));
    }
    for (std::size_t piece = 0; piece < file.pieces.size(); ++piece) {
      wanted_.emplace(file.pieces[piece], std::pair(index, piece));
    }
  }
  directories_.assign(directories.begin(), directories.end());
}

std::string TreeWriter::PathOf(const CodeFile& file) const {
  return absl::StrCat(directory_, "/", file.path);
}

absl::Status TreeWriter::Begin() {
  for (const std::string& directory : directories_) {
    const std::string path = directory_ + directory;
    if (mkdir(path.c_str(), 0755) != 0) return ErrnoStatus(errno, "cannot create", path);
  }
  for (const CodeFile& file : manifest_.files) {
    if (!file.pieces.empty()) continue;
    const std::string path = PathOf(file);
    const UniqueFd fd(
        open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!fd.valid()) return ErrnoStatus(errno, "cannot create", path);
  }
  return absl::OkStatus();
}

std::vector<std::string> TreeWriter::Missing() const {
  // In the order of the files, which is that of the packs in the store.
  std::vector<std::string> missing;
  std::set<absl::string_view> seen;
  for (const CodeFile& file : manifest_.files) {
    for (const std::string& digest : file.pieces) {
      if (wanted_.contains(digest) && seen.insert(digest).second) missing.push_back(digest);
    }
  }
  return missing;
}

absl::Status TreeWriter::Write(const std::string& digest, absl::string_view content) {
  const auto [begin, end] = wanted_.equal_range(digest);
  if (begin == end) {
    return absl::InvalidArgumentError("the code snapshot does not contain a received blob");
  }
  for (auto wanted = begin; wanted != end; ++wanted) {
    const auto [index, piece] = wanted->second;
    TRAINYARD_RETURN_IF_ERROR(WritePiece(manifest_.files[index], piece, content));
  }
  wanted_.erase(begin, end);
  return absl::OkStatus();
}

absl::Status TreeWriter::WritePiece(const CodeFile& file, std::size_t piece,
                                    absl::string_view content) {
  const std::string path = PathOf(file);
  if (content.size() != PieceBytes(file, piece)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the size of ", file.path, " differs from the list of the code snapshot"));
  }
  if (file.kind == FileKind::kLink) {
    const std::string target(content);
    if (!StaysInTree(file.path, target)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the link ", file.path, " of the code snapshot leads out of the tree"));
    }
    if (symlink(target.c_str(), path.c_str()) != 0) {
      return ErrnoStatus(errno, "cannot create the link", path);
    }
    return absl::OkStatus();
  }
  const UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd.valid()) return ErrnoStatus(errno, "cannot write", path);
  TRAINYARD_RETURN_IF_ERROR(WriteAt(fd.get(), content, piece * kPieceBytes, path));
  // One system call by descriptor instead of one by path in Finish.
  if (file.pieces.size() > 1 || fchmod(fd.get(), ModeOf(file)) == 0) return absl::OkStatus();
  return ErrnoStatus(errno, "cannot protect", path);
}

absl::Status TreeWriter::Finish() {
  for (const CodeFile& file : manifest_.files) {
    if (file.kind == FileKind::kLink || file.pieces.size() == 1) continue;
    const std::string path = PathOf(file);
    if (chmod(path.c_str(), ModeOf(file)) != 0) return ErrnoStatus(errno, "cannot protect", path);
  }
  for (auto directory = directories_.rbegin(); directory != directories_.rend(); ++directory) {
    const std::string path = directory_ + *directory;
    if (chmod(path.c_str(), 0555) != 0) return ErrnoStatus(errno, "cannot protect", path);
  }
  return absl::OkStatus();
}

}  // namespace trainyard::code
