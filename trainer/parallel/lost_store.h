// Handles a broken connection to the rendezvous store in a LibTorch thread.
#ifndef TRAINYARD_TRAINER_PARALLEL_LOST_STORE_H_
#define TRAINYARD_TRAINER_PARALLEL_LOST_STORE_H_

namespace trainyard::trainer {

// A thread of LibTorch 1.13's store throws an uncaught exception if rank 0's process dies while
// data is in flight. The rank would abort and look as if it had failed on its own. After this call
// such an exception, an std::system_error of a connection, ends the process with kPeerLost. Other
// exceptions abort as before.
void LeaveWhenStoreIsLost();

// Variant for a rank that continues in place: the thread stops forever instead.
void StopThreadWhenStoreIsLost();
// True once that thread has stopped. A store must not be destroyed afterwards, because its
// destructor joins the thread.
bool HasStoppedStoreThread();

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_LOST_STORE_H_
