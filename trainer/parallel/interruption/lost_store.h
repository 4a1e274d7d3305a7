// Handles exceptions that LibTorch's threads throw when the connection to the rendezvous store
// breaks.
#ifndef TRAINYARD_TRAINER_PARALLEL_INTERRUPTION_LOST_STORE_H_
#define TRAINYARD_TRAINER_PARALLEL_INTERRUPTION_LOST_STORE_H_

namespace trainyard::trainer {

// After this call, a broken connection to the store ends the process with kPeerLost. Without this
// call, the process would abort, and it would look as if this rank had failed on its own: in
// LibTorch 1.13, a thread of the store throws an uncaught std::system_error if rank 0's process
// dies while data is in flight. Other uncaught exceptions still abort the process.
void LeaveWhenStoreIsLost();

// After this call, a broken connection to the store blocks the store's thread forever. Otherwise
// the thread would end the process. Called by ranks that continue in place after the store is lost.
void StopThreadWhenStoreIsLost();
// True once a store's thread has stopped. From then on, no store may be destroyed, because its
// destructor would wait for the stopped thread.
bool HasStoppedStoreThread();

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_INTERRUPTION_LOST_STORE_H_
