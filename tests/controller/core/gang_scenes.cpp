#include "tests/controller/core/gang_scenes.h"

#include <algorithm>

#include "controller/core/explain/explain.h"

namespace trainyard::controller {
namespace {

constexpr int64_t kSecond = 1000;
constexpr int64_t kMinute = 60 * kSecond;
constexpr int64_t kLease = 10 * kMinute;
constexpr int64_t kUnknown = 240 * kMinute;
constexpr int64_t kFinishing = 30 * kMinute;

void SetWatchdog(v1::JobSpec& spec) {
  v1::WatchdogSpec& watchdog = *spec.mutable_watchdog();
  watchdog.set_action(v1::WATCHDOG_ACTION_RESTART);
  watchdog.mutable_min_stall()->set_seconds(15);
  watchdog.set_factor(3);
  spec.mutable_stop_grace()->set_seconds(60);
}

v1::JobSpec WithLongestPause(int64_t seconds) {
  v1::JobSpec spec = OwnProgram();
  spec.mutable_watchdog()->mutable_longest_pause()->set_seconds(seconds);
  return spec;
}

void Train(GangScene& scene, int64_t step) {
  scene.Run(OwnProgram());
  scene.SayAll("train", step);
}

void TrainWithSlowSteps(GangScene& scene, int64_t slow_ms) {
  Train(scene, 100);
  for (const int rank : {0, 1}) scene.Rank(rank).set_slow_step_ms(slow_ms);
}

// Ends the first attempt with the times `use`, and runs a second attempt.
void RunAgain(GangScene& scene, const v1::TimeUse& use) {
  scene.Run(OwnProgram());
  scene.cluster.ExitAll(scene.job, 1);
  scene.cluster.ClearAll(scene.job);
  v1::Attempt& first = *scene.cluster.state.jobs.at(scene.job).job.mutable_attempts(0);
  *first.mutable_time_use() = use;
  first.set_last_step(10);
  first.clear_verdict();
  scene.cluster.Pass(10 * kSecond);
  scene.cluster.StartAll(scene.job);
}

void Heal(GangScene& scene) {
  scene.Run(OurTrainer(1));
  scene.SayAll("train", 50);
  scene.cluster.Report("c", scene.job).add_ranks()->set_rank(2);
  scene.cluster.Report("c", scene.job).mutable_ranks(0)->set_running(true);
  scene.cluster.Report("c", scene.job).mutable_ranks(0)->set_phase("standby");
  for (int64_t step = 48; step <= 50; ++step) scene.cluster.Step(scene.job, 0, step, 0.5);
  scene.Pass(10 * kSecond);
  scene.Rank(1).set_running(false);
  v1::RankExited exited;
  exited.set_rank(1);
  exited.set_signal(9);
  exited.set_time_ms(scene.cluster.now);
  scene.cluster.Exit(scene.job, exited);
  scene.cluster.Settle();
}

using State = GangState;
using Source = LimitSource;

// Gangs that have not completed a step.
std::vector<SceneCase> StartScenes() {
  return {
      {"NotStarted", State::kNotStarted, Source::kStartLease, 2 * kMinute,
       [](GangScene& scene) {
         scene.Place(OwnProgram());
         scene.cluster.StartRank(scene.job, 0);
         scene.Rank(0);
       }},
      {"SilentProgram", State::kSilent, Source::kNoTelemetry, std::nullopt,
       [](GangScene& scene) {
         scene.Run(OwnProgram());
         scene.SayAll("", 0);
       }},
      {"SilentTrainer", State::kSilent, Source::kTrainerReports, kLease,
       [](GangScene& scene) {
         scene.Run(OurTrainer());
         scene.SayAll("", 0);
       }},
      {"FirstStart", State::kStart, Source::kUnknownPhase, kUnknown,
       [](GangScene& scene) {
         scene.Run(OwnProgram());
         scene.SayAll("load", 0);
       }},
      {"LaterStart", State::kStart, Source::kEarlierStarts, 150 * kSecond,
       [](GangScene& scene) {
         v1::TimeUse use;
         use.set_init_ms(20'000);
         use.set_load_ms(30'000);
         RunAgain(scene, use);
         scene.SayAll("init", 0);
       }},
      {"FirstStep", State::kFirstStep, Source::kUnknownPhase, kUnknown,
       [](GangScene& scene) { Train(scene, 0); }},
      {"FirstStepInACollective", State::kFirstStep, Source::kGroupWait, kLease,
       [](GangScene& scene) {
         Train(scene, 0);
         scene.WaitForRank1();
       }},
  };
}

// Gangs that report no phases, and gangs in their second step.
std::vector<SceneCase> SecondScenes() {
  return {
      {"Unphased", State::kUnphased, Source::kNoPhases, std::nullopt,
       [](GangScene& scene) {
         scene.Run(OwnProgram());
         scene.SayAll("", 7);
       }},
      {"UnphasedWithLongestPause", State::kUnphased, Source::kLongestPause, kMinute,
       [](GangScene& scene) {
         scene.Run(WithLongestPause(60));
         scene.SayAll("", 7);
       }},
      {"UnphasedAtLastStep", State::kFinish, Source::kFinishLease, kFinishing,
       [](GangScene& scene) {
         scene.Run(WithLongestPause(60));
         scene.SayAll("", 7);
         scene.Pass(kSecond);
         scene.cluster.observations.attempts.begin()->second.total_steps = 7;
       }},
      {"OwnPhase", State::kOwnPhase, Source::kUnknownPhase, kUnknown,
       [](GangScene& scene) {
         scene.Run(OwnProgram());
         scene.SayAll("sample", 7);
       }},
      {"DataJob", State::kPreparesData, Source::kUnknownPhase, kUnknown,
       [](GangScene& scene) {
         scene.Run(DataJob());
         scene.SayAll("blocks", 7);
       }},
      {"SecondStep", State::kSecondStep, Source::kUnknownPhase, kUnknown,
       [](GangScene& scene) { Train(scene, 1); }},
      {"SecondStepInACollective", State::kSecondStep, Source::kGroupWait, kLease,
       [](GangScene& scene) {
         Train(scene, 1);
         scene.WaitForRank1();
       }},
      {"SecondStepAfterATimedOne", State::kSecondStep, Source::kFirstStepTime, 150 * kSecond,
       [](GangScene& scene) {
         Train(scene, 1);
         scene.cluster.Step(scene.job, 0, 1, 50);
       }},
  };
}

// Gangs that train.
std::vector<SceneCase> TrainScenes() {
  return {
      {"Train", State::kTrain, Source::kSlowSteps, 24 * kSecond,
       [](GangScene& scene) { TrainWithSlowSteps(scene, 8 * kSecond); }},
      {"TrainWithShortSteps", State::kTrain, Source::kSlowSteps, 15 * kSecond,
       [](GangScene& scene) { TrainWithSlowSteps(scene, 100); }},
      {"TrainInItsFirstSeconds", State::kTrain, Source::kStepTimes, 27 * kSecond,
       [](GangScene& scene) {
         Train(scene, 2);
         scene.cluster.Step(scene.job, 0, 1, 9);
         scene.cluster.Step(scene.job, 0, 2, 0.1);
       }},
      {"TrainAfterRestartsOfBothDaemons", State::kTrain, Source::kEarlierSteps, 150 * kSecond,
       [](GangScene& scene) {
         scene.Run(OurTrainer());
         scene.SayAll("train", 100);
         scene.cluster.observations.progress[scene.job].set_step_seconds(50);
       }},
      {"TrainWithoutAPace", State::kTrain, Source::kNoPace, kLease,
       [](GangScene& scene) { Train(scene, 100); }},
  };
}

// Saves and evaluations.
std::vector<SceneCase> SaveScenes() {
  return {
      {"FirstCheckpoint", State::kCheckpoint, Source::kUnknownPhase, kUnknown,
       [](GangScene& scene) {
         scene.Run(OwnProgram());
         scene.SayAll("checkpoint", 100);
       }},
      {"LaterCheckpoint", State::kCheckpoint, Source::kEarlierPhases, 300 * kSecond,
       [](GangScene& scene) {
         scene.Run(OwnProgram());
         scene.SayAll("checkpoint", 100);
         scene.cluster.observations.longest_phase_ms[scene.job]["checkpoint"] = 100 * kSecond;
       }},
      {"CheckpointAfterAnEarlierAttempt", State::kCheckpoint, Source::kEarlierPhases, 180 * kSecond,
       [](GangScene& scene) {
         v1::TimeUse use;
         use.set_checkpoint_ms(60'000);
         RunAgain(scene, use);
         scene.SayAll("checkpoint", 100);
       }},
      {"EvaluationAfterAnEarlierAttempt", State::kEvaluation, Source::kEarlierPhases, 2 * kMinute,
       [](GangScene& scene) {
         v1::TimeUse use;
         use.set_evaluation_ms(1000);
         use.set_checkpoint_ms(600'000);
         RunAgain(scene, use);
         scene.SayAll("eval", 100);
       }},
      {"LastStep", State::kFinish, Source::kFinishLease, kFinishing,
       [](GangScene& scene) {
         TrainWithSlowSteps(scene, 1000);
         scene.Pass(kSecond);
         scene.cluster.observations.attempts.begin()->second.total_steps = 100;
       }},
      {"SaveAfterTheLastStep", State::kCheckpoint, Source::kUnknownPhase, kUnknown,
       [](GangScene& scene) {
         scene.Run(OwnProgram());
         scene.SayAll("checkpoint", 100);
         scene.Pass(kSecond);
         scene.cluster.observations.attempts.begin()->second.total_steps = 100;
       }},
      {"Done", State::kFinish, Source::kFinishLease, kFinishing,
       [](GangScene& scene) {
         scene.Run(OwnProgram());
         scene.SayAll("done", 100);
       }},
  };
}

// Gangs in which a rank has exited with 0.
std::vector<SceneCase> LeftScenes() {
  return {
      {"LeftWhileOthersTrain", State::kLeft, Source::kSlowSteps, 2 * kMinute,
       [](GangScene& scene) {
         TrainWithSlowSteps(scene, 1000);
         scene.Pass(kSecond);
         scene.Leave(1);
       }},
      {"LeftWhileOthersWaitForIt", State::kLeft, Source::kSlowSteps, 15 * kSecond,
       [](GangScene& scene) {
         TrainWithSlowSteps(scene, 1000);
         scene.WaitForRank1();
         scene.Pass(kSecond);
         scene.Leave(1);
       }},
      {"LeftWithoutPhases", State::kLeft, Source::kFinishLease, kFinishing,
       [](GangScene& scene) {
         scene.Run(OwnProgram());
         scene.SayAll("", 7);
         scene.Pass(kSecond);
         scene.Leave(0);
       }},
      {"LeftByTheOnlyOneThatReports", State::kLeft, Source::kLongestPause, kMinute,
       [](GangScene& scene) {
         scene.Run(WithLongestPause(60));
         scene.Say(0, "", 0);
         scene.Say(1, "", 7);
         scene.Pass(kSecond);
         scene.Leave(1);
       }},
      {"LeftOfAProgramWithoutTelemetry", State::kSilent, Source::kNoTelemetry, std::nullopt,
       [](GangScene& scene) {
         scene.Run(OwnProgram());
         scene.SayAll("", 0);
         scene.Pass(kSecond);
         scene.Leave(1);
       }},
      {"LeftWhileOthersEvaluate", State::kEvaluation, Source::kUnknownPhase, kUnknown,
       [](GangScene& scene) {
         scene.Run(OwnProgram());
         scene.SayAll("eval", 7);
         scene.Pass(kSecond);
         scene.Leave(1);
       }},
  };
}

// Gangs that are healing or stopping.
std::vector<SceneCase> EndScenes() {
  return {
      {"AwaitsHeal", State::kAwaitsHeal, Source::kHealWait, kLease,
       [](GangScene& scene) {
         scene.Run(OwnProgram());
         scene.SayAll("heal", 7);
       }},
      {"Healing", State::kHealing, Source::kHealLimit, 30 * kSecond, Heal},
      {"Stopping", State::kStopping, Source::kStopGrace, 70 * kSecond,
       [](GangScene& scene) {
         TrainWithSlowSteps(scene, 1000);
         scene.Pass(kSecond);
         scene.cluster.Stop(scene.job);
       }},
      {"Killed", State::kStopping, Source::kStopGrace, 10 * kSecond,
       [](GangScene& scene) {
         TrainWithSlowSteps(scene, 1000);
         scene.Pass(kSecond);
         scene.cluster.Stop(scene.job, true);
       }},
      {"Pausing", State::kStopping, Source::kStopGrace, 70 * kSecond,
       [](GangScene& scene) {
         TrainWithSlowSteps(scene, 1000);
         scene.Pass(kSecond);
         v1::PauseJobRequest request;
         request.set_job(std::to_string(scene.job));
         scene.cluster.Do(PauseJob{request, {"ada"}});
       }},
  };
}

}  // namespace

v1::JobSpec OwnProgram() {
  v1::JobSpec spec = TestSpec("job", 2, 1);
  SetWatchdog(spec);
  return spec;
}

v1::JobSpec DataJob() {
  v1::JobSpec spec = OwnProgram();
  spec.clear_command();
  spec.set_kind(v1::JOB_KIND_DATA);
  spec.set_pipeline("/data/wiki.yaml");
  return spec;
}

v1::JobSpec OurTrainer(int spares) {
  v1::JobSpec spec = SparesSpec("job", 2, 1, spares);
  SetWatchdog(spec);
  return spec;
}

GangScene::GangScene() {
  for (const char* id : {"a", "b", "c"}) cluster.AddNode(id, 1);
}

void GangScene::Place(const v1::JobSpec& spec) {
  job = cluster.Submit(spec);
  cluster.Settle();
}

void GangScene::Run(const v1::JobSpec& spec) {
  Place(spec);
  cluster.StartAll(job);
}

v1::RankReport& GangScene::Rank(int rank) {
  v1::AttemptReport& report = cluster.Report(Attempt().ranks(rank).node_id(), job);
  if (report.ranks().empty()) report.add_ranks()->set_running(true);
  report.mutable_ranks(0)->set_rank(rank);
  return *report.mutable_ranks(0);
}

void GangScene::Say(int rank, const std::string& phase, int64_t step) {
  Rank(rank).set_phase(phase);
  Rank(rank).set_step(step);
}

void GangScene::SayAll(const std::string& phase, int64_t step) {
  for (const int rank : {0, 1}) Say(rank, phase, step);
}

void GangScene::WaitForRank1() {
  v1::FlightRecord& flight = *Rank(0).mutable_newest()->add_flights();
  flight.set_group("dp0");
  flight.set_ranks("0-1");
  flight.set_sequence(42);
  flight.set_operation("all-reduce");
  flight.set_entered_ms(1);
}

void GangScene::Leave(int rank) {
  Rank(rank).set_running(false);
  cluster.ExitRank(job, rank, 0);
}

void GangScene::WriteOutput() {
  for (const int rank : {0, 1}) Rank(rank).set_last_activity_ms(cluster.now);
}

void GangScene::MakeStep() {
  for (const int rank : {0, 1}) Rank(rank).set_step(Rank(rank).step() + 1);
}

void GangScene::RestartController() {
  cluster.observations = Observations{.since_ms = cluster.now};
  for (const char* id : {"a", "b", "c"}) cluster.OpenStream(id);
}

GangLimit GangScene::Limit() const {
  return LimitOfGang(cluster.observations, cluster.options, cluster.state.jobs.at(job),
                     cluster.now);
}

std::string GangScene::Why() const {
  return ExplainJob(cluster.View(), cluster.state.jobs.at(job)).answer();
}

void GangScene::Pass(int64_t ms) { cluster.Pass(ms, ms > kLease ? 2500 : 500); }

std::ostream& operator<<(std::ostream& out, const SceneCase& scene) { return out << scene.name; }

std::vector<SceneCase> AllScenes() {
  std::vector<SceneCase> all;
  for (const auto& some :
       {StartScenes(), SecondScenes(), TrainScenes(), SaveScenes(), LeftScenes(), EndScenes()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace trainyard::controller
