// A stream for the program's output that removes terminal control characters.
#ifndef TRAINYARD_CLI_OUTPUT_TERMINAL_PRINTABLE_STREAM_H_
#define TRAINYARD_CLI_OUTPUT_TERMINAL_PRINTABLE_STREAM_H_

#include <ostream>
#include <streambuf>
#include <string>

namespace trainyard::cli {

// Forwards each line to another buffer through PrintableLine. All output is converted, because
// untrusted names, reasons and job output are printed in too many places to check each place. For
// use by one thread.
class PrintableBuffer final : public std::streambuf {
 public:
  // `target` must outlive this buffer. `colors`: keep the escape sequences that set colors.
  PrintableBuffer(std::streambuf& target, bool colors) : target_(target), colors_(colors) {}
  ~PrintableBuffer() override { sync(); }
  PrintableBuffer(const PrintableBuffer&) = delete;
  PrintableBuffer& operator=(const PrintableBuffer&) = delete;

 protected:
  int overflow(int c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

 private:
  // Forwards the first `size` bytes of `waiting_`.
  bool PassOn(std::size_t size);
  bool PassOnLines();

  std::streambuf& target_;
  const bool colors_;
  // The start of a line whose end has not arrived yet.
  std::string waiting_;
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_TERMINAL_PRINTABLE_STREAM_H_
