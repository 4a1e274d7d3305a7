// What other processes ask of a running trainer: SIGTERM (save and leave) and SIGUSR1 (save now).
#ifndef TRAINYARD_TRAINER_SIGNALS_H_
#define TRAINYARD_TRAINER_SIGNALS_H_

namespace trainyard::trainer {

// From here on SIGUSR1 is remembered, and SIGTERM leaves at once with 143: nothing is to be saved
// while ranks still meet or load.
void WatchSignals();

// From here on SIGTERM is remembered too; the step loop acts on it. A second one changes nothing:
// who does not want to wait for the save sends SIGKILL.
void DeferStop();

// Whether SIGTERM has come.
bool StopRequested();

// Whether SIGUSR1 has come since the last call.
bool TakeSaveRequest();

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_SIGNALS_H_
