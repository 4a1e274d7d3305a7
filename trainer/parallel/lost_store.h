// The end of a rank whose connection to the rendezvous store breaks in a thread of LibTorch.
#ifndef TRAINYARD_TRAINER_PARALLEL_LOST_STORE_H_
#define TRAINYARD_TRAINER_PARALLEL_LOST_STORE_H_

namespace trainyard::trainer {

// LibTorch 1.13's store has a thread that throws where nobody catches when the process of rank 0
// dies with data on its way: the rank would abort, and look as if it had failed by itself. From
// this call on such an exception, an std::system_error of a connection, ends the process with
// kPeerLost; every other one aborts as before.
void LeaveWhenStoreIsLost();

// The same for a rank that goes on in place: the thread stops for ever instead.
void StopThreadWhenStoreIsLost();
// True once it has: a store must not be destroyed from then on, because that joins its thread.
bool HasStoppedStoreThread();

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_LOST_STORE_H_
