#include "worker/tail/error_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "nlohmann/json.hpp"
#include "proto/text/utf8.h"

namespace trainyard::worker {
namespace {

constexpr std::size_t kMaxFileBytes = 1 << 20;

// Returns "" if the file cannot be read, or is longer than the limit.
std::string ReadWhole(const GuardedPath& path) {
  const absl::StatusOr<UniqueFd> fd = OpenGuarded(path, O_RDONLY);
  if (!fd.ok()) return "";
  std::string text(kMaxFileBytes + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t count = read(fd->get(), text.data() + size, text.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return "";
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  if (size > kMaxFileBytes) return "";
  text.resize(size);
  return text;
}

}  // namespace

std::string ErrorMessageIn(std::string_view content) {
  const auto json = nlohmann::json::parse(content, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("message")) return "";
  // PyTorch writes a text for an error that has no exception, and otherwise an object with the
  // text.
  const nlohmann::json* message = &json["message"];
  if (message->is_object() && message->contains("message")) message = &(*message)["message"];
  if (!message->is_string()) return "";
  const std::string text = ReplaceInvalidUtf8(message->get<std::string>());
  return std::string(Utf8Prefix(text, kMaxErrorFileText));
}

std::string ReadErrorFile(const GuardedPath& path) { return ErrorMessageIn(ReadWhole(path)); }

}  // namespace trainyard::worker
