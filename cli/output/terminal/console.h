// The program's streams. Data goes to `out`. Progress, hints and questions go to `err`.
#ifndef TRAINYARD_CLI_OUTPUT_TERMINAL_CONSOLE_H_
#define TRAINYARD_CLI_OUTPUT_TERMINAL_CONSOLE_H_

#include <iosfwd>
#include <string>

#include "proto/support/clock.h"

namespace trainyard::cli {

// The streams, clock and terminal of all output. Tests replace all of these. For use by one thread.
struct Console {
  std::istream* in = nullptr;
  std::ostream* out = nullptr;
  std::ostream* err = nullptr;
  const Clock* clock = nullptr;
  bool in_is_tty = false;
  bool out_is_tty = false;
  bool err_is_tty = false;
  // Color on `err`.
  bool color = false;
  // Color on `out`.
  bool out_color = false;
  // Columns of the terminal; 0 if the output is not a terminal.
  int width = 0;

  Timestamp Now() const { return clock->Now(); }
};

// Returns the streams of this process. Reads NO_COLOR, TERM and the size of the terminal.
Console SystemConsole(const Clock& clock);

// Prints "error: MESSAGE" on `err`. The second and later lines of the message are indented.
void PrintError(Console& console, const std::string& message);

// Prints one line for the user on `err`.
void PrintNote(Console& console, const std::string& message);

// Asks a yes-or-no question on `err`. Returns true if the answer is y or yes.
bool Confirm(Console& console, const std::string& question);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_TERMINAL_CONSOLE_H_
