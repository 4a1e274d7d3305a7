// The program's output without characters that control a terminal.
#ifndef TRAINYARD_CLI_OUTPUT_PRINTABLE_STREAM_H_
#define TRAINYARD_CLI_OUTPUT_PRINTABLE_STREAM_H_

#include <ostream>
#include <streambuf>
#include <string>

namespace trainyard::cli {

// Passes text on to another buffer, each line as PrintableLine gives it. Names, reasons and output
// of jobs come from others, and there are too many places that print them to check each. One
// thread.
class PrintableBuffer final : public std::streambuf {
 public:
  // `target` outlives this. `colors`: SGR sequences pass.
  PrintableBuffer(std::streambuf& target, bool colors) : target_(target), colors_(colors) {}
  ~PrintableBuffer() override { sync(); }
  PrintableBuffer(const PrintableBuffer&) = delete;
  PrintableBuffer& operator=(const PrintableBuffer&) = delete;

 protected:
  int overflow(int c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

 private:
  // Passes on the first `size` bytes of what waits.
  bool PassOn(std::size_t size);
  bool PassOnLines();

  std::streambuf& target_;
  const bool colors_;
  // Text that has no line end yet.
  std::string waiting_;
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_PRINTABLE_STREAM_H_
