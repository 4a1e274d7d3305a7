#include "controller/rpc/worker_control_service.h"

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "controller/access/server_credentials.h"
#include "controller/rpc/hello_check.h"
#include "controller/rpc/worker_message_check.h"
#include "proto/support/grpc_status.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

using BidiReactor = grpc::ServerBidiReactor<v1::WorkerMessage, v1::ControllerMessage>;

// The maximum number of bytes received from all workers but not stored yet.
constexpr std::size_t kAllStreamsBytes = 128 << 20;
// The maximum number of bytes received from one worker but not stored yet. It exceeds the 16 MiB
// that a worker sends without an acknowledgement, so this limit normally does not delay heartbeats.
constexpr std::size_t kOneStreamBytes = 24 << 20;
constexpr int kOneStreamMessages = 4096;
// The maximum amount of one worker's messages that wait for the loop, in bytes and in number. The
// loop handles this amount in less than a second, so that heartbeats and facts behind much
// telemetry are still handled in time.
constexpr std::size_t kOneStreamWaitingBytes = 4 << 20;
constexpr int kOneStreamWaitingMessages = 1024;
// If this many outgoing messages are queued, the controller stops reading from the worker.
// Otherwise the worker's requests would cause further answers.
constexpr std::size_t kOutgoingPauses = 256;
// If more outgoing messages are queued, the worker is disconnected as a slow consumer.
constexpr std::size_t kOutgoingLimit = 8192;

// A number of messages, and their bytes.
struct Load {
  std::size_t bytes = 0;
  int messages = 0;

  void Add(std::size_t message_bytes) {
    bytes += message_bytes;
    ++messages;
  }
  void Remove(std::size_t message_bytes) {
    bytes -= message_bytes;
    --messages;
  }
  bool Exceeds(std::size_t max_bytes, int max_messages) const {
    return bytes >= max_bytes || messages >= max_messages;
  }
};

// Performs all operations on one stream under one mutex. Outlives the reactor.
class StreamLink final : public WorkerLink, public std::enable_shared_from_this<StreamLink> {
 public:
  // `context` must live as long as the reactor.
  StreamLink(std::shared_ptr<ReadBudget> budget, const TokenProver& prover, BidiReactor* reactor,
             grpc::CallbackServerContext* context)
      : budget_(std::move(budget)), prover_(prover), reactor_(reactor), context_(context) {}

  // Stores the Hello's nonce, because the proof in Welcome needs it.
  void SetHello(const v1::Hello& hello) {
    const std::lock_guard lock(mutex_);
    nonce_ = hello.nonce();
    node_id_ = hello.node_id();
  }

  void Send(v1::ControllerMessage message) override {
    const std::lock_guard lock(mutex_);
    if (message.has_welcome()) {
      message.mutable_welcome()->set_token_proof(prover_.ProveWelcome(nonce_, node_id_));
    }
    if (Closing()) return;
    if (outgoing_.size() >= kOutgoingLimit) {
      CutOffNow(absl::ResourceExhaustedError("the worker does not read its stream"));
      return;
    }
    outgoing_.push_back(std::move(message));
    if (outgoing_.size() == 1) reactor_->StartWrite(&outgoing_.front());
  }

  Outgoing outgoing() const override {
    const std::lock_guard lock(mutex_);
    return {outgoing_.size(), taken_};
  }

  void Close(const absl::Status& status) override {
    const std::lock_guard lock(mutex_);
    if (!Closing()) Finish(status);
  }

  void CutOff(const absl::Status& status) override {
    const std::lock_guard lock(mutex_);
    CutOffNow(status);
  }

  bool ReadingPaused() const override {
    const std::lock_guard lock(mutex_);
    return paused_;
  }

  bool Closed() const {
    const std::lock_guard lock(mutex_);
    return Closing();
  }

  void OnWritten(bool ok) {
    {
      const std::lock_guard lock(mutex_);
      outgoing_.pop_front();
      ++taken_;
      if (!ok) outgoing_.clear();
      if (reactor_ != nullptr && final_status_.has_value()) {
        FinishNow();
      } else if (reactor_ != nullptr && !outgoing_.empty()) {
        reactor_->StartWrite(&outgoing_.front());
      }
    }
    ReadOn();
  }

  // Counts a message that was just read. The next message is not read before FinishHandling.
  ReadPermits StartHandling(std::size_t bytes) {
    budget_->Take(bytes);
    {
      const std::lock_guard lock(mutex_);
      reading_ = false;
      handling_ = true;
      greeted_ = true;
      handled_.Add(bytes);
      waiting_.Add(bytes);
    }
    return {ReadPermit(this, [self = shared_from_this(), bytes](void*) { self->Received(bytes); }),
            ReadPermit(this, [self = shared_from_this(), bytes](void*) { self->Release(bytes); })};
  }

  void FinishHandling() {
    {
      const std::lock_guard lock(mutex_);
      handling_ = false;
    }
    ReadOn();
  }

  // Reads the next message. If too many messages are waiting, pauses reading. ReadOn is called
  // again as soon as there is capacity.
  void ReadOn() {
    const std::lock_guard lock(mutex_);
    if (Closing() || reading_ || handling_) return;
    // The first message (Hello) is read regardless of the limits, because without it no heartbeat
    // could follow and the node would seem lost.
    paused_ = greeted_ && (handled_.Exceeds(kOneStreamBytes, kOneStreamMessages) ||
                           waiting_.Exceeds(kOneStreamWaitingBytes, kOneStreamWaitingMessages) ||
                           outgoing_.size() >= kOutgoingPauses || !BudgetHasCapacity());
    if (paused_) return;
    reading_ = true;
    reactor_->StartRead(&incoming_);
  }

  v1::WorkerMessage& incoming() { return incoming_; }

 private:
  bool Closing() const { return reactor_ == nullptr || final_status_.has_value(); }

  bool BudgetHasCapacity() {
    return budget_->AcquireOrWait(this, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->ReadOn();
    });
  }

  void Received(std::size_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.Remove(bytes);
      if (!paused_) return;
    }
    ReadOn();
  }

  void Release(std::size_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      handled_.Remove(bytes);
    }
    budget_->Release(bytes);
    ReadOn();
  }

  // Ends the stream after the running write, as gRPC requires.
  void Finish(const absl::Status& status) {
    final_status_ = status;
    if (outgoing_.empty()) {
      FinishNow();
    } else {
      outgoing_.resize(1);
    }
  }

  // Ends the stream even if the worker does not read: the running write then ends only when the
  // call is canceled. gRPC reports the cancellation on another thread, so no callback runs while
  // mutex_ is locked. Requires mutex_.
  void CutOffNow(const absl::Status& status) {
    if (reactor_ == nullptr) return;
    if (!final_status_.has_value()) Finish(status);
    if (reactor_ != nullptr) context_->TryCancel();
  }

  void FinishNow() {
    reactor_->Finish(ToGrpc(*final_status_));
    reactor_ = nullptr;
  }

  const std::shared_ptr<ReadBudget> budget_;
  const TokenProver& prover_;
  mutable std::mutex mutex_;
  // mutex_ guards this and all members below, except incoming_, which gRPC writes while reading_ is
  // set.
  BidiReactor* reactor_;
  grpc::CallbackServerContext* const context_;
  uint64_t taken_ = 0;
  // The first message in the queue is being written.
  std::deque<v1::ControllerMessage> outgoing_;
  std::optional<absl::Status> final_status_;
  Load handled_;  // Messages that are not handled yet.
  Load waiting_;  // Messages that wait for the loop.
  bool reading_ = false;
  bool handling_ = false;
  bool paused_ = false;
  // True once the first message was read.
  bool greeted_ = false;
  std::string nonce_;
  std::string node_id_;
  v1::WorkerMessage incoming_;
};

class WorkerStream final : public BidiReactor {
 public:
  WorkerStream(WorkerListener& listener, std::shared_ptr<ReadBudget> budget,
               const TokenProver& prover, bool is_private, grpc::CallbackServerContext* context)
      : listener_(listener),
        prover_(prover),
        is_private_(is_private),
        link_(std::make_shared<StreamLink>(std::move(budget), prover, this, context)) {
    link_->ReadOn();
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      link_->Close(absl::OkStatus());
      return;
    }
    ReadPermits permits = link_->StartHandling(link_->incoming().ByteSizeLong());
    v1::WorkerMessage message = std::exchange(link_->incoming(), {});
    if (const absl::Status status = Check(message); !status.ok()) {
      link_->Close(status);
    } else if (!link_->Closed()) {
      received_hello_ = true;
      listener_.OnMessage(link_, std::move(message), std::move(permits));
    }
    link_->FinishHandling();
  }

  void OnWriteDone(bool ok) override {
    link_->OnWritten(ok);
    if (!ok) link_->Close(absl::UnavailableError("the stream to the worker broke"));
  }

  void OnCancel() override { link_->Close(absl::CancelledError("the worker disconnected")); }

  void OnDone() override {
    listener_.OnClosed(link_);
    delete this;
  }

 private:
  absl::Status Check(v1::WorkerMessage& message) const {
    if (received_hello_) return CheckLaterMessage(message);
    if (!message.has_hello()) {
      return absl::InvalidArgumentError("the first message of a worker must be Hello");
    }
    TRAINYARD_RETURN_IF_ERROR(CheckHello(message.hello()));
    TRAINYARD_RETURN_IF_ERROR(VerifyHello(prover_, is_private_, *message.mutable_hello()));
    link_->SetHello(message.hello());
    return absl::OkStatus();
  }

  WorkerListener& listener_;
  const TokenProver& prover_;
  // True if nobody else can read the connection.
  const bool is_private_;
  const std::shared_ptr<StreamLink> link_;
  bool received_hello_ = false;
};

}  // namespace

WorkerControlService::WorkerControlService(WorkerListener& listener, const TokenProver& prover,
                                           bool encrypted)
    : listener_(listener),
      prover_(prover),
      encrypted_(encrypted),
      budget_(std::make_shared<ReadBudget>(kAllStreamsBytes)) {}

BidiReactor* WorkerControlService::Attach(grpc::CallbackServerContext* context) {
  const bool is_private = encrypted_ || IsFromThisMachine(*context);
  return new WorkerStream(listener_, budget_, prover_, is_private, context);
}

}  // namespace trainyard::controller
