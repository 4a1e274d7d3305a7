#include "cli/output/terminal/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "cli/output/terminal/printable_stream.h"
#include "proto/text/printable.h"

namespace trainyard::cli {
namespace {

int TerminalWidth(int fd) {
  winsize size{};
  return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool WantsColor() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool dumb = term == nullptr || std::string(term) == "dumb";
  return (no_color == nullptr || *no_color == '\0') && !dumb;
}

// Returns the lines of a message. Control characters are escaped, because the message may quote a
// name from an untrusted source.
std::vector<std::string> PrintableLines(const std::string& message) {
  std::vector<std::string> lines;
  for (const absl::string_view line : absl::StrSplit(message, '\n')) {
    lines.push_back(PrintableLine(std::string_view(line.data(), line.size()), false));
  }
  return lines;
}

}  // namespace

Console SystemConsole(const Clock& clock) {
  Console console;
  console.in = &std::cin;
  static PrintableBuffer printable(*std::cout.rdbuf(), isatty(STDOUT_FILENO) == 1);
  static std::ostream out(&printable);
  console.out = &out;
  console.err = &std::cerr;
  console.clock = &clock;
  console.in_is_tty = isatty(STDIN_FILENO) == 1;
  console.out_is_tty = isatty(STDOUT_FILENO) == 1;
  console.err_is_tty = isatty(STDERR_FILENO) == 1;
  console.color = console.err_is_tty && WantsColor();
  console.out_color = console.out_is_tty && WantsColor();
  if (console.out_is_tty) console.width = TerminalWidth(STDOUT_FILENO);
  if (console.width == 0 && console.err_is_tty) console.width = TerminalWidth(STDERR_FILENO);
  return console;
}

void PrintError(Console& console, const std::string& message) {
  const char* label = console.color ? "\033[1;31merror:\033[0m " : "error: ";
  *console.err << label << absl::StrJoin(PrintableLines(message), "\n  ") << std::endl;
}

void PrintNote(Console& console, const std::string& message) {
  *console.err << absl::StrJoin(PrintableLines(message), "\n") << std::endl;
}

bool Confirm(Console& console, const std::string& question) {
  *console.err << question << " [y/N] " << std::flush;
  std::string answer;
  if (!std::getline(*console.in, answer)) return false;
  answer = absl::AsciiStrToLower(absl::StripAsciiWhitespace(answer));
  return answer == "y" || answer == "yes";
}

}  // namespace trainyard::cli
