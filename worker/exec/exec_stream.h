// The stream between the program that runs an exec session and the controller.
#ifndef TRAINYARD_WORKER_EXEC_EXEC_STREAM_H_
#define TRAINYARD_WORKER_EXEC_EXEC_STREAM_H_

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <mutex>

#include "absl/status/status.h"
#include "trainyard/v1/exec_service.grpc.pb.h"

namespace trainyard::worker {

// One thread may read while other threads write.
class ExecStream {
 public:
  // Connects and names the session. Blocks. UNAVAILABLE: the controller cannot be reached.
  absl::Status Open(const v1::ExecLaunch& launch);

  // Blocks until a message arrives. Returns false once the stream has ended.
  bool Read(v1::ExecInput& input) { return call_->Read(&input); }
  // Blocks while the client does not read. Returns false once the stream has ended.
  bool Write(const v1::ExecOutput& output);
  // Makes blocked calls return. Thread-safe.
  void Cancel() { context_.TryCancel(); }

 private:
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::ExecService::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::ExecOutput, v1::ExecInput>> call_;
  std::mutex write_mutex_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_EXEC_EXEC_STREAM_H_
