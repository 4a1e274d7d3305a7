#include "proto/files/directory_nonce.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "proto/files/unique_fd.h"

namespace trainyard {
namespace {

// Readable by everyone, because ranks may run as another user than the worker.
constexpr FileAccess kAccess{.mode = 0644};

ReadNonceResult Failed(int number, const std::string& action) {
  return {"", FileError{number, action}};
}

// Creates the name `to` for the complete file at `from`, unless `to` exists. Uses a hard link,
// which is created atomically even on network file systems.
FileResult Link(const std::string& from, const std::string& to) {
  if (link(from.c_str(), to.c_str()) == 0 || errno == EEXIST) return std::nullopt;
  return FileError{errno, "cannot link " + to};
}

// Creates the file on file systems without hard links. A reader may then find a file that is still
// empty.
FileResult MakeInPlace(const std::string& path, const std::string& text) {
  DurableFile file;
  if (FileResult error = file.CreateNew(path, kAccess)) {
    if (error->number == EEXIST) return std::nullopt;
    return error;
  }
  if (FileResult error = file.Append(text)) return error;
  return file.Finish();
}

FileResult MakeNonce(const std::string& path) {
  const std::string nonce = NewNonce();
  if (nonce.empty()) return FileError{EIO, "cannot read random bytes for " + path};
  const std::string made = path + "." + nonce;
  const std::string text = nonce + "\n";
  FileResult error = WriteFileDurably(made, {text}, kAccess);
  if (!error.has_value() && Link(made, path).has_value()) error = MakeInPlace(path, text);
  unlink(made.c_str());
  if (error.has_value()) return error;
  return SyncDirectory(DirectoryOf(path));
}

}  // namespace

std::string NewNonce() {
  std::array<unsigned char, kNonceDigits / 2> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return "";
  constexpr char kHex[] = "0123456789abcdef";
  std::string nonce;
  for (const unsigned char byte : bytes) {
    nonce.push_back(kHex[byte >> 4]);
    nonce.push_back(kHex[byte & 15]);
  }
  return nonce;
}

bool IsNonce(std::string_view text) {
  return text.size() == kNonceDigits && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

ReadNonceResult ReadNonce(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file.valid()) return Failed(errno, "cannot open " + path);
  // One byte larger than the longest valid file, so that longer files are detected.
  std::array<char, kNonceDigits + 2> text{};
  const ssize_t bytes = read(file.get(), text.data(), text.size());
  if (bytes < 0) return Failed(errno, "cannot read " + path);
  std::string_view nonce(text.data(), static_cast<std::size_t>(bytes));
  if (nonce.ends_with('\n')) nonce.remove_suffix(1);
  if (!IsNonce(nonce)) return Failed(EBADMSG, path + " contains no nonce");
  return {std::string(nonce), std::nullopt};
}

ReadNonceResult ReadOrMakeNonce(const std::string& path) {
  ReadNonceResult found = ReadNonce(path);
  if (!found.error.has_value() || found.error->number != ENOENT) return found;
  if (FileResult error = MakeNonce(path)) return {"", std::move(error)};
  return ReadNonce(path);
}

}  // namespace trainyard
