// Raw mode of the user's terminal: every key is passed on as it is typed.
#ifndef TRAINYARD_CLI_PROCESS_RAW_TERMINAL_H_
#define TRAINYARD_CLI_PROCESS_RAW_TERMINAL_H_

namespace trainyard::cli {

struct TerminalSides {
  int rows = 24;
  int columns = 80;
};

// Returns the size of the terminal, or 24 x 80 if the terminal has no size.
TerminalSides SidesOfTerminal(int fd);

// Raw mode lasts as long as this object. The former mode is also restored if the process ends
// abnormally, except by SIGKILL. At most one object at a time may exist.
class RawTerminal {
 public:
  explicit RawTerminal(int fd);
  ~RawTerminal();
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_PROCESS_RAW_TERMINAL_H_
