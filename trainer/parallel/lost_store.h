// Handles exceptions that LibTorch's threads throw when the connection to the rendezvous store
// breaks.
#ifndef TRAINYARD_TRAINER_PARALLEL_LOST_STORE_H_
#define TRAINYARD_TRAINER_PARALLEL_LOST_STORE_H_

namespace trainyard::trainer {

// After this call, a broken connection to the store ends the process with kPeerLost. In LibTorch
// 1.13, a thread of the store throws an uncaught std::system_error if rank 0's process dies while
// data is in flight. Without this call, the rank would abort and look as if it had failed on its
// own. Other exceptions still abort the process.
void LeaveWhenStoreIsLost();

// Does the same for a rank that is to continue in place: instead of ending the process, the thread
// stops forever.
void StopThreadWhenStoreIsLost();
// True once a thread of the store has stopped. After that a store must not be destroyed, because
// its destructor joins the thread.
bool HasStoppedStoreThread();

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_LOST_STORE_H_
