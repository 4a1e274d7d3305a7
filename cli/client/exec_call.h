// The stream of an exec session, as the client sees it.
#ifndef TRAINYARD_CLI_CLIENT_EXEC_CALL_H_
#define TRAINYARD_CLI_CLIENT_EXEC_CALL_H_

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "grpcpp/grpcpp.h"
#include "trainyard/v1/exec_service.grpc.pb.h"

namespace trainyard::cli {

// One thread may write while another thread reads.
class ExecCall {
 public:
  explicit ExecCall(v1::ExecService::Stub& stub) : call_(stub.Exec(&context_)) {}

  // Blocks while the command does not read its input. Returns false once the stream has ended.
  bool Write(const v1::ExecInput& input) { return call_->Write(input); }
  // Blocks until a message arrives. Returns false once the stream has ended.
  bool Read(v1::ExecOutput& output) { return call_->Read(&output); }
  // Makes blocked calls return. The controller then ends the command. Thread-safe.
  void Cancel() { context_.TryCancel(); }
  // Returns the result of the stream. Call after Read has returned false.
  grpc::Status Finish() { return call_->Finish(); }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::ExecInput, v1::ExecOutput>> call_;
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CLIENT_EXEC_CALL_H_
