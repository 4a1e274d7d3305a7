// What other processes ask of a running trainer: SIGTERM (save and leave) and SIGUSR1 (save now).
#ifndef TRAINYARD_TRAINER_SIGNALS_H_
#define TRAINYARD_TRAINER_SIGNALS_H_

namespace trainyard::trainer {

// From here on the two signals are only remembered; the step loop acts on them. A second SIGTERM
// changes nothing: who does not want to wait for the save sends SIGKILL.
void WatchSignals();

// Whether SIGTERM has come.
bool StopRequested();

// Whether SIGUSR1 has come since the last call.
bool TakeSaveRequest();

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_SIGNALS_H_
