#include "cli/process/signal_pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace trainyard::cli {
namespace {

// Written by the signal handler, because write() is async-signal-safe.
std::atomic<int> written_end{-1};

void WriteSignal(int signal) {
  const int saved_errno = errno;
  const unsigned char byte = static_cast<unsigned char>(signal);
  if (write(written_end.load(), &byte, 1) < 0) errno = 0;
  errno = saved_errno;
}

}  // namespace

SignalPipe::SignalPipe(const std::vector<int>& signals) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
  read_end_.Reset(ends[0]);
  write_end_.Reset(ends[1]);
  written_end = ends[1];
  struct sigaction action {};
  action.sa_handler = WriteSignal;
  action.sa_flags = SA_RESTART;
  for (const int signal : signals) sigaction(signal, &action, &former_[signal]);
}

SignalPipe::~SignalPipe() {
  for (const auto& [signal, action] : former_) sigaction(signal, &action, nullptr);
  written_end = -1;
}

std::optional<int> SignalPipe::Next() {
  unsigned char byte = 0;
  if (read(read_end_.get(), &byte, 1) != 1) return std::nullopt;
  return byte;
}

}  // namespace trainyard::cli
