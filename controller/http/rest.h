// The REST interface. Each operation decodes its request, calls the same request handler as gRPC,
// and encodes the answer.
#ifndef TRAINYARD_CONTROLLER_HTTP_REST_H_
#define TRAINYARD_CONTROLLER_HTTP_REST_H_

#include <string>

#include "controller/api/context/api.h"
#include "controller/http/assets.h"
#include "controller/http/exchange.h"
#include "controller/http/stream_feed.h"
#include "controller/http/target.h"

namespace trainyard::controller::http {

struct RestCall;

class Rest {
 public:
  // All arguments must outlive every call.
  Rest(const Api& api, StreamFeed& feed, const Assets& assets)
      : api_(api), feed_(feed), assets_(assets) {}

  // Handles a request for kApiPrefix or a path below it. Refuses a request that the caller's role
  // does not allow. Call on the server's thread.
  void Handle(Request request, Respond respond);

 private:
  void Run(const RestCall& call);
  void RunAboutJob(const RestCall& call);
  void ChangeJob(const RestCall& call);
  void DeleteJob(const RestCall& call);
  // Cordons, uncordons or drains a node.
  void CordonNode(const RestCall& call);
  void RunAboutQueues(const RestCall& call);
  void RunAboutReservations(const RestCall& call);
  void RunAboutCluster(const RestCall& call);
  void RunAboutNodes(const RestCall& call);
  void ReadLogs(const RestCall& call);
  void ReadSeries(const RestCall& call);
  void CompareSeries(const RestCall& call);
  void EndSessions(const RestCall& call);
  void AskTopology(const RestCall& call);
  void HandOver(const RestCall& call);
  void GetNode(const RestCall& call);
  void RemoveNode(const RestCall& call);
  void ReleaseNode(const RestCall& call);
  void StreamEvents(const RestCall& call);

  const Api& api_;
  StreamFeed& feed_;
  const Assets& assets_;
};

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_REST_H_
