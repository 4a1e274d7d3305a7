#include "proto/access/connect_error.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "grpcpp/generic/async_generic_service.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "proto/access/channel.h"
#include "tests/fakes/fake_token.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

struct Identity {
  std::string certificate;
  std::string key;
};

template <typename Write>
std::string Pem(const Write& write) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), BIO_free);
  write(bio.get());
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

constexpr long kDay = 86400;

// Returns a self-signed certificate with its key. The certificate is valid from `from` to `to`, in
// seconds from now.
Identity MakeIdentity(const std::string& names, long from = -kDay, long to = kDay) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> made(X509_new(), X509_free);
  X509_set_version(made.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), from);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), to);
  X509_set_pubkey(made.get(), key.get());
  X509_NAME* name = X509_get_subject_name(made.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("test"), -1, -1, 0);
  X509_set_issuer_name(made.get(), name);
  for (const auto& [nid, value] : {std::pair<int, std::string>(NID_subject_alt_name, names),
                                   {NID_basic_constraints, "critical,CA:TRUE"}}) {
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, nid, value.c_str());
    X509_add_ext(made.get(), extension, -1);
    X509_EXTENSION_free(extension);
  }
  X509_sign(made.get(), key.get(), EVP_sha256());
  return {Pem([&](BIO* bio) { PEM_write_bio_X509(bio, made.get()); }), Pem([&](BIO* bio) {
            PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
          })};
}

const char kHere[] = "IP:127.0.0.1";

class ConnectErrorTest : public testing::Test {
 protected:
  // Serves on a free port. Uses TLS if `identity` is not empty.
  void Serve(const Identity& identity) {
    std::shared_ptr<grpc::ServerCredentials> credentials = grpc::InsecureServerCredentials();
    if (!identity.certificate.empty()) {
      grpc::SslServerCredentialsOptions options;
      options.pem_key_cert_pairs.push_back({identity.key, identity.certificate});
      credentials = grpc::SslServerCredentials(options);
    }
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", credentials, &port);
    builder.RegisterAsyncGenericService(&service_);
    calls_ = builder.AddCompletionQueue();
    server_ = builder.BuildAndStart();
    address_ = absl::StrCat("127.0.0.1:", port);
  }

  ~ConnectErrorTest() override {
    if (server_ == nullptr) return;
    server_->Shutdown(std::chrono::system_clock::now());
    calls_->Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (calls_->Next(&tag, &ok)) {
    }
  }

  // Makes a call with this CA file. The call fails. Returns the explanation of the error.
  std::string Explain(const std::string& certificate) const {
    AccessPlaces places{.token_file = WriteFakeToken(directory_.path())};
    if (!certificate.empty()) {
      places.ca_file = directory_.path() + "/ca.pem";
      std::ofstream(places.ca_file) << certificate;
    }
    const absl::StatusOr<Access> access = FindAccess(address_, places);
    if (!access.ok()) return std::string(access.status().message());
    const absl::Status status = OpenChannel(*access, {.limit = std::chrono::seconds(20)}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
    return absl::StrCat(
        ConnectErrorText(ExplainConnectError(status.message(), address_, certificate)),
        "\n  gRPC: ", status.message());
  }

  const TemporaryDirectory directory_;
  grpc::AsyncGenericService service_;
  std::unique_ptr<grpc::ServerCompletionQueue> calls_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_ = "127.0.0.1:1";
};

TEST_F(ConnectErrorTest, NobodyListens) {
  EXPECT_THAT(Explain(""), HasSubstr("connection refused"));
}

TEST_F(ConnectErrorTest, TheControllerExpectsTls) {
  Serve(MakeIdentity(kHere));
  EXPECT_THAT(
      Explain(""),
      HasSubstr("either the controller expects TLS, or another program listens at this address; "
                "for TLS set $TRAINYARD_CA_FILE"));
}

TEST_F(ConnectErrorTest, TheControllerHasNoTls) {
  Serve({});
  EXPECT_THAT(
      Explain(MakeIdentity(kHere).certificate),
      HasSubstr(
          "this program uses TLS, because it has a CA file, but the controller does not use TLS"));
}

TEST_F(ConnectErrorTest, ACertificateOfAnotherName) {
  const Identity other = MakeIdentity("DNS:controller.example");
  Serve(other);
  EXPECT_THAT(Explain(other.certificate),
              HasSubstr(absl::StrCat("certificate does not name ", address_)));
}

TEST_F(ConnectErrorTest, AnUnknownAuthority) {
  Serve(MakeIdentity(kHere));
  EXPECT_THAT(
      Explain(MakeIdentity(kHere).certificate),
      HasSubstr(
          "is not from the authority in the CA file, or has expired; set $TRAINYARD_CA_FILE"));
}

TEST_F(ConnectErrorTest, CertificatesOutOfTheirTime) {
  const Identity old = MakeIdentity(kHere, -2 * kDay, -kDay);
  Serve(old);
  EXPECT_THAT(Explain(old.certificate),
              HasSubstr("the certificate in the CA file has expired; renew"));
}

TEST_F(ConnectErrorTest, ACertificateOfTheFuture) {
  const Identity early = MakeIdentity(kHere, kDay, 2 * kDay);
  Serve(early);
  EXPECT_THAT(Explain(early.certificate), HasSubstr("is not valid yet; correct the clocks"));
}

TEST_F(ConnectErrorTest, ACaFileWithoutACertificate) {
  Serve(MakeIdentity(kHere));
  EXPECT_THAT(Explain("no certificate"), HasSubstr("the CA file contains no readable certificate"));
}

TEST(ConnectErrorTextTest, ABrokenConnectionIsNotAQuestionOfTls) {
  const ConnectError error = ExplainLostConnection("Socket closed");
  EXPECT_EQ(error.cause, "the connection was closed");
  EXPECT_THAT(error.advice, IsEmpty());
  EXPECT_EQ(ConnectErrorText({"cause", ""}), "cause");
  EXPECT_EQ(ExplainConnectError("something new", "a:1", "").cause, "something new");
}

}  // namespace
}  // namespace trainyard
