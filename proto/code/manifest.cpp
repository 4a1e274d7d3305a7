#include "proto/code/manifest.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "proto/code/blob_pack.h"
#include "proto/support/status_macros.h"
#include "proto/text/utf8.h"

namespace trainyard::code {
namespace {

// The first record. Each record ends with a NUL byte, because file names may contain all other
// bytes. A record of a file is "KIND BYTES DIGEST,DIGEST PATH".
constexpr absl::string_view kManifestStart = "trainyard-code 1";
constexpr std::size_t kUsualRecordBytes = 128;

absl::Status BadManifest(absl::string_view reason, absl::string_view path = "") {
  return absl::InvalidArgumentError(
      absl::StrCat("the manifest of the code is not valid: ", reason,
                   path.empty() ? "" : absl::StrCat(": ", absl::CHexEscape(path))));
}

char LetterOf(FileKind kind) {
  if (kind == FileKind::kLink) return 'l';
  return kind == FileKind::kExecutable ? 'x' : 'f';
}

std::optional<FileKind> KindOf(absl::string_view letter) {
  if (letter == "f") return FileKind::kFile;
  if (letter == "x") return FileKind::kExecutable;
  if (letter == "l") return FileKind::kLink;
  return std::nullopt;
}

// Takes the text before the next blank from `record`; nullopt without a blank.
std::optional<absl::string_view> TakeWord(absl::string_view& record) {
  const std::size_t blank = record.find(' ');
  if (blank == absl::string_view::npos) return std::nullopt;
  const absl::string_view word = record.substr(0, blank);
  record.remove_prefix(blank + 1);
  return word;
}

bool IsValidSize(const CodeFile& file) {
  if (file.kind != FileKind::kLink) return file.bytes >= 0 && file.bytes <= kMaxSnapshotBytes;
  return file.bytes > 0 && file.bytes <= static_cast<int64_t>(kMaxTargetBytes);
}

void AppendRecord(const CodeFile& file, std::string& text) {
  text.push_back(LetterOf(file.kind));
  absl::StrAppend(&text, " ", file.bytes, " ");
  for (std::size_t piece = 0; piece < file.pieces.size(); ++piece) {
    absl::StrAppend(&text, piece > 0 ? "," : "", file.pieces[piece]);
  }
  absl::StrAppend(&text, " ", file.path);
  text.push_back('\0');
}

absl::StatusOr<CodeFile> ReadRecord(absl::string_view record) {
  const absl::string_view whole = record;
  CodeFile file;
  const auto letter = TakeWord(record);
  const auto bytes = TakeWord(record);
  const auto digests = TakeWord(record);
  if (!letter || !bytes || !digests) return BadManifest("a record is incomplete");
  file.path = std::string(record);
  if (const auto problem = PathProblem(file.path)) return BadManifest(*problem, file.path);
  const auto kind = KindOf(*letter);
  if (!kind.has_value() || !absl::SimpleAtoi(*bytes, &file.bytes)) {
    return BadManifest("kind or size is unknown", file.path);
  }
  file.kind = *kind;
  if (!IsValidSize(file)) return BadManifest("the size is out of range", file.path);
  if (!digests->empty()) file.pieces = absl::StrSplit(*digests, ',');
  const bool valid = file.pieces.size() == PiecesOf(file.bytes) &&
                     std::all_of(file.pieces.begin(), file.pieces.end(), IsDigest);
  if (!valid) return BadManifest("the digests are not valid", file.path);
  // Each tree has only one text, so that equal trees have equal ids.
  std::string written;
  AppendRecord(file, written);
  written.pop_back();
  if (written != whole) return BadManifest("a record has another form", file.path);
  return file;
}

// Returns an error if a path is the directory of another path.
absl::Status CheckDirectories(const std::vector<CodeFile>& files) {
  std::set<absl::string_view> paths;
  for (const CodeFile& file : files) paths.insert(file.path);
  for (const CodeFile& file : files) {
    const absl::string_view path = file.path;
    for (std::size_t slash = path.find('/'); slash != absl::string_view::npos;
         slash = path.find('/', slash + 1)) {
      if (paths.contains(path.substr(0, slash))) {
        return BadManifest("a path is below a file", path);
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

int64_t Manifest::Bytes() const {
  int64_t bytes = 0;
  for (const CodeFile& file : files) bytes += file.bytes;
  return bytes;
}

std::set<std::string> Manifest::Digests() const {
  std::set<std::string> digests;
  for (const CodeFile& file : files) digests.insert(file.pieces.begin(), file.pieces.end());
  return digests;
}

std::optional<std::string> PathProblem(absl::string_view path) {
  if (path.empty() || path.front() == '/') return "the path is not relative";
  if (path.size() > kMaxPathBytes) {
    return absl::StrCat("the path has more than ", kMaxPathBytes, " bytes");
  }
  if (!IsUtf8(std::string_view(path.data(), path.size()))) return "the name is not UTF-8";
  for (const char c : path) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      return "the name contains a control character";
    }
  }
  for (const absl::string_view part : absl::StrSplit(path, '/')) {
    if (part.empty() || part == "." || part == "..") {
      return "the path contains an empty component, `.` or `..`";
    }
  }
  return std::nullopt;
}

bool StaysInTree(absl::string_view path, absl::string_view target) {
  if (target.empty() || target.size() > kMaxTargetBytes || target.front() == '/') return false;
  if (target.find('\0') != absl::string_view::npos) return false;
  auto depth = std::count(path.begin(), path.end(), '/');
  bool descended = false;
  for (const absl::string_view part : absl::StrSplit(target, '/')) {
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      descended = true;
    } else if (descended || --depth < 0) {
      return false;
    }
  }
  return true;
}

std::size_t PiecesOf(int64_t bytes) {
  return (static_cast<std::size_t>(bytes) + kPieceBytes - 1) / kPieceBytes;
}

absl::StatusOr<std::string> WriteManifest(const Manifest& manifest) {
  std::vector<const CodeFile*> files;
  files.reserve(manifest.files.size());
  for (const CodeFile& file : manifest.files) files.push_back(&file);
  std::ranges::sort(files, {}, &CodeFile::path);
  std::string text(kManifestStart);
  text.reserve(files.size() * kUsualRecordBytes);
  text.push_back('\0');
  for (const CodeFile* file : files) AppendRecord(*file, text);
  if (text.size() > kMaxBlobBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the list of the ", manifest.files.size(), " files has ", text.size(),
                     " bytes, more than ", kMaxBlobBytes, "; exclude files with .trainyardignore"));
  }
  return text;
}

absl::StatusOr<Manifest> ReadManifest(absl::string_view text) {
  if (text.size() > kMaxBlobBytes) return BadManifest("it is too large");
  if (text.empty() || text.back() != '\0') return BadManifest("it is cut off");
  text.remove_suffix(1);
  Manifest manifest;
  int64_t bytes = 0;
  bool first = true;
  for (const absl::string_view record : absl::StrSplit(text, '\0')) {
    if (std::exchange(first, false)) {
      if (record != kManifestStart) return BadManifest("it does not begin as a manifest");
      continue;
    }
    if (manifest.files.size() >= static_cast<std::size_t>(kMaxSnapshotFiles)) {
      return BadManifest("it has too many files");
    }
    TRAINYARD_ASSIGN_OR_RETURN(CodeFile file, ReadRecord(record));
    if (!manifest.files.empty() && file.path <= manifest.files.back().path) {
      return BadManifest("the paths are not sorted, or one occurs twice", file.path);
    }
    bytes += file.bytes;
    if (bytes > kMaxSnapshotBytes) return BadManifest("its files are too large");
    manifest.files.push_back(std::move(file));
  }
  TRAINYARD_RETURN_IF_ERROR(CheckDirectories(manifest.files));
  return manifest;
}

}  // namespace trainyard::code
