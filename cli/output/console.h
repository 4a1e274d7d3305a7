// Streams of the program. Data goes only to `out`; progress, hints, questions and colour to `err`.
#ifndef TRAINYARD_CLI_OUTPUT_CONSOLE_H_
#define TRAINYARD_CLI_OUTPUT_CONSOLE_H_

#include <iosfwd>
#include <string>

#include "proto/support/clock.h"

namespace trainyard::cli {

// Streams, clock and terminal for all rendering; tests fill them in. Used by one thread.
struct Console {
  std::istream* in = nullptr;
  std::ostream* out = nullptr;
  std::ostream* err = nullptr;
  const Clock* clock = nullptr;
  bool in_is_tty = false;
  bool out_is_tty = false;
  bool err_is_tty = false;
  // Colour on `err`.
  bool color = false;
  // Columns of the terminal; 0 without one.
  int width = 0;

  Timestamp Now() const { return clock->Now(); }
};

// The process's own streams. Reads NO_COLOR, TERM and the terminal's size.
Console SystemConsole(const Clock& clock);

// "error: MESSAGE", with further lines indented, on `err`.
void PrintError(Console& console, const std::string& message);

// One line for a person on `err`.
void PrintNote(Console& console, const std::string& message);

// Asks a yes-or-no question on `err` and reads the answer; anything except y or yes means no.
bool Confirm(Console& console, const std::string& question);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_CONSOLE_H_
