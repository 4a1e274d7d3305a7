#include "data/documents/pod_process.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "proto/process/spawn.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

// The options are those of `pod2text --utf8 --errors=none --indent=0 --width=1000000`. A request
// and an answer are 8 bytes with the number of bytes, most significant first, and the bytes. The
// process reads the whole request before it answers, so neither side blocks the other.
constexpr char kScript[] = R"(
use Pod::Text;
binmode STDIN; binmode STDOUT; $| = 1;
while (read(STDIN, my $head, 8) == 8) {
  my $size = unpack 'Q>', $head;
  my $pod = '';
  while (length $pod < $size) {
    read(STDIN, $pod, $size - length $pod, length $pod) or exit 1;
  }
  my $parser = Pod::Text->new(utf8 => 1, errors => 'none', indent => 0, width => 1000000);
  my $text = '';
  $parser->output_string(\$text);
  $parser->parse_string_document($pod);
  utf8::encode($text) if utf8::is_utf8($text);
  print pack('Q>', length $text), $text;
}
)";

// No text is longer: a document of the input may have at most this many bytes.
constexpr uint64_t kMaxTextBytes = uint64_t{1} << 32;

absl::Status CannotRun(const std::string& path, int error) {
  return absl::FailedPreconditionError("cannot run perl, which reads " + path + ": " +
                                       std::strerror(error) +
                                       "; install the package perl, or omit .pod files");
}

std::array<char, 8> Head(uint64_t bytes) {
  std::array<char, 8> head{};
  for (int i = 0; i < 8; ++i) head[i] = static_cast<char>(bytes >> (56 - 8 * i));
  return head;
}

uint64_t SizeIn(const std::array<char, 8>& head) {
  uint64_t bytes = 0;
  for (const char byte : head) bytes = bytes << 8 | static_cast<uint8_t>(byte);
  return bytes;
}

}  // namespace

absl::StatusOr<std::unique_ptr<PodProcess>> PodProcess::Start(const std::string& path) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return CannotRun(path, errno);
  }
  UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  pid_t process = -1;
  const int error = Spawn({.command = {"perl", "-e", kScript},
                           .fds = {{.number = STDIN_FILENO, .source = theirs.get()},
                                   {.number = STDOUT_FILENO, .source = theirs.get()},
                                   // Perl warns of characters that it cannot decode.
                                   {.number = STDERR_FILENO, .source = kNullDevice}}},
                          process);
  if (error != 0) return CannotRun(path, error);
  return std::unique_ptr<PodProcess>(new PodProcess(std::move(ours), process));
}

PodProcess::~PodProcess() {
  // Perl ends when it cannot read another request, and is not amid a conversion after an answer or
  // an error.
  shutdown(socket_.get(), SHUT_RDWR);
  AwaitExit(process_);
}

bool PodProcess::Send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool PodProcess::Receive(char* into, std::size_t bytes) const {
  while (bytes > 0) {
    const ssize_t count = recv(socket_.get(), into, bytes, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    into += count;
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

absl::StatusOr<std::string> PodProcess::Convert(const std::string& path, std::string_view pod) {
  std::array<char, 8> head = Head(pod.size());
  const absl::Status failed = absl::DataLossError(
      path + ": Perl cannot read this file; repair the file, or omit it from the inputs");
  if (!Send({head.data(), head.size()}) || !Send(pod)) return failed;
  if (!Receive(head.data(), head.size())) return failed;
  const uint64_t bytes = SizeIn(head);
  if (bytes > kMaxTextBytes) return failed;
  std::string text(bytes, '\0');
  if (!Receive(text.data(), text.size())) return failed;
  return text;
}

}  // namespace trainyard::data
