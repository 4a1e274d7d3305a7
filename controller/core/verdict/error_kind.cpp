#include "controller/core/verdict/error_kind.h"

#include "proto/text/line_prefix.h"
#include "re2/re2.h"

namespace trainyard::controller {
namespace {

// Longer lines are skipped, because they are probably data and are slow to search.
constexpr std::size_t kMaxSearchedBytes = 4096;

bool NamesAnError(re2::StringPiece message) {
  static const RE2 kForms(
      R"(^(?:)"
      R"((?:[A-Za-z_][\w.]*\.)?[A-Za-z_]\w*(?:Error|Exception|Interrupt|Exit|Warning)(?::|$)|)"
      R"(terminate called |\s*what\(\): |.*: Assertion .* failed|trainyard-trainer: |)"
      R"((?:FATAL|ERROR)\b|(?i:[\w./:-]*:? ?(?:fatal|fatal error|error):)))");
  static const RE2 kWarning(R"(^[\w.]*Warning\b)");
  return RE2::PartialMatch(message, kForms) && !RE2::PartialMatch(message, kWarning);
}

// A communication library names itself and the loss of a connection or a peer. Errors of NCCL that
// have a local cause, such as "unhandled cuda error", do not match.
bool NamesPeerLoss(re2::StringPiece line) {
  static const RE2 kForms(
      R"(Watchdog caught collective operation timeout|)"
      R"((?i:watchdog thread terminated with exception: .*(?:remote|timeout|timed out|peer))|)"
      R"(Some NCCL operations have failed or timed out|taking the entire process down|)"
      R"(NCCL communicator was aborted|ncclRemoteError|remote process exited|)"
      R"((?i:(?:nccl|gloo).*(?:connection (?:closed|reset|refused)|closed by (?:remote )?peer|)"
      R"(reset by peer|broken pipe|timed out|connect\w* (?:failed|timeout)|error.*timeout))|)"
      R"(Application timeout caused pair closure|)"
      R"((?i:(?:c10d|tcpstore|Dist(?:Store|Network|Backend)Error).*)"
      R"((?:connection (?:closed|reset)|closed by peer|broken pipe|timed out|wait timeout|)"
      R"(socket timeout|failed to recv|waiting for clients|(?:recv|send)\w* failed))|)"
      R"(Rendezvous(?:Connection|Closed|Timeout|GracefulExit)Error|)"
      R"(SignalException: Process \d+ got signal: 15\b)");
  return RE2::PartialMatch(line, kForms);
}

bool IsFrame(re2::StringPiece line) {
  static const RE2 kForms(
      R"(^terminate called |elastic\.multiprocessing\.errors\.|\bChildFailedError\b|)"
      R"(\bfailed \(exitcode: -?\d+\) local_rank: |)"
      R"(subprocess\.CalledProcessError: |exits with return code = |Killing subprocess|)"
      R"(^srun: error: .*(?:Exited with exit code|Terminated|Aborted|Killed)|)"
      R"(^slurmstepd: error: \*\*\* |MPI_ABORT was invoked|mpirun noticed that process)");
  return RE2::PartialMatch(line, kForms);
}

}  // namespace

ErrorKind KindOfLine(std::string_view line) {
  if (line.size() > kMaxSearchedBytes) return ErrorKind::kNone;
  const re2::StringPiece whole(line.data(), line.size());
  if (NamesPeerLoss(whole)) return ErrorKind::kPeerLoss;
  const std::string_view text = WithoutLinePrefixes(line);
  const re2::StringPiece message(text.data(), text.size());
  if (IsFrame(message)) return ErrorKind::kFrame;
  return NamesAnError(message) ? ErrorKind::kOwn : ErrorKind::kNone;
}

}  // namespace trainyard::controller
