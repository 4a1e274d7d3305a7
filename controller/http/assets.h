// The dashboard's files, compressed into the program when it was built, or read from a directory.
#ifndef TRAINYARD_CONTROLLER_HTTP_ASSETS_H_
#define TRAINYARD_CONTROLLER_HTTP_ASSETS_H_

#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "controller/http/exchange.h"

namespace trainyard::controller::http {

class Assets {
 public:
  // Files that the build put into the program. DATA_LOSS: the archive is damaged.
  static absl::StatusOr<Assets> Embedded();
  // Reads each file when it is asked for. NOT_FOUND: there is no index.html.
  static absl::StatusOr<Assets> InDirectory(const std::string& directory);

  // A path that looks like a page and names no file gets index.html: the dashboard's own
  // addresses are below "/".
  Response Answer(const Request& request, const std::string& path) const;

  // The checked-in openapi.json.
  std::string_view OpenApi() const;

 private:
  struct File {
    std::string_view gzipped;
    std::string etag;
  };

  Response AnswerEmbedded(const Request& request, const std::string& path) const;
  Response AnswerFromDirectory(const std::string& path) const;

  std::map<std::string, File, std::less<>> files_;
  std::string directory_;
};

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_ASSETS_H_
