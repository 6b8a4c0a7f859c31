// The small doors to the machine: files, certificates, GPUs, facts, the log.
#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "host/certificates.h"
#include "host/files.h"
#include "host/log_sink.h"
#include "host/nvml_gpu_source.h"
#include "host/system_info.h"
#include "host/testing/test_world.h"

namespace tau::host {
namespace {

TEST(Files, AreReplacedWhole) {
  TempFolder folder;
  const std::string path = folder / "f";
  ASSERT_TRUE(write_file(path, "one"));
  ASSERT_TRUE(write_file(path, "two"));
  EXPECT_EQ(*read_file(path), "two");
  struct stat found{};
  ASSERT_EQ(stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  EXPECT_EQ(read_file(folder / "none").error().code, ErrorCode::not_found);
  EXPECT_FALSE(write_file(folder / "no/folder", "x"));
}

TEST(Files, AreLockedByOne) {
  TempFolder folder;
  const std::string path = folder / "lock";
  {
    auto lock = FileLock::take(path);
    ASSERT_TRUE(lock);
    const auto second = FileLock::take(path);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::conflict);
  }
  EXPECT_TRUE(FileLock::take(path));
}

struct FreeX509 {
  void operator()(X509* one) const { X509_free(one); }
};
std::unique_ptr<X509, FreeX509> parse(const std::string& pem) {
  BIO* bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  std::unique_ptr<X509, FreeX509> one(PEM_read_bio_X509(bio, nullptr, nullptr, nullptr));
  BIO_free(bio);
  return one;
}

TEST(Certificates, NameTheLoopback) {
  const Certificates made = make_certificates(system_now()).value();
  const auto ca = parse(made.ca_pem), server = parse(made.server_pem);
  ASSERT_TRUE(ca && server);
  EXPECT_EQ(X509_check_ca(ca.get()), 1);
  EXPECT_EQ(X509_verify(server.get(), X509_get0_pubkey(ca.get())), 1);
  EXPECT_EQ(X509_check_host(server.get(), "localhost", 0, 0, nullptr), 1);
  EXPECT_EQ(X509_check_ip_asc(server.get(), "127.0.0.1", 0), 1);
  EXPECT_EQ(X509_check_ip_asc(server.get(), "::1", 0), 1);
  EXPECT_EQ(X509_check_host(server.get(), "example.org", 0, 0, nullptr), 0);
  EXPECT_EQ(X509_check_purpose(server.get(), X509_PURPOSE_SSL_SERVER, 0), 1);
}

TEST(Certificates, AreRenewedInTimeByTheSameCa) {
  const Time now = system_now();
  Certificates made = make_certificates(now).value();
  EXPECT_FALSE(ends_soon(made.server_pem, now + hours(24 * 300)));
  EXPECT_TRUE(ends_soon(made.server_pem, now + hours(24 * 340)));
  EXPECT_FALSE(ends_soon(made.ca_pem, now + hours(24 * 3500)));
  EXPECT_TRUE(ends_soon("no certificate", now));
  const std::string before = made.server_pem, ca = made.ca_pem;
  ASSERT_TRUE(renew_server_certificate(made, now + hours(24 * 340)));
  EXPECT_NE(made.server_pem, before);
  EXPECT_EQ(made.ca_pem, ca);
  EXPECT_FALSE(ends_soon(made.server_pem, now + hours(24 * 340)));
  EXPECT_EQ(X509_verify(parse(made.server_pem).get(), X509_get0_pubkey(parse(ca).get())), 1);
  Certificates broken{.ca_pem = "x", .ca_key_pem = "y"};
  EXPECT_FALSE(renew_server_certificate(broken, now));
}

TEST(Nvml, TellsWhatIsKnown) {
  NvmlGpuSource source(TAU_NVML_FOR_TESTS);
  ASSERT_TRUE(source.is_loaded());
  for (int i = 0; i < 2; ++i) {
    const auto gpus = source.read();
    ASSERT_TRUE(gpus) << gpus.error().message;
    ASSERT_EQ(gpus->size(), 2u);
    const agent::Gpu& one = (*gpus)[0];
    EXPECT_EQ(one.uuid, "GPU-aaaa");
    EXPECT_EQ(one.product, "NVIDIA-H100-80GB-HBM3");
    EXPECT_EQ(one.pci_address, "00000000:FF:1F.7");
    EXPECT_EQ(one.memory_bytes, 80LL << 30);
    EXPECT_EQ(one.memory_used_bytes, 1LL << 30);
    EXPECT_EQ(one.utilisation, 0.25);
    EXPECT_EQ(one.power_w, 350.5);
    EXPECT_EQ(one.temperature_c, 41);
    const agent::Gpu& other = (*gpus)[1];
    EXPECT_EQ(other.index, 1);
    EXPECT_EQ(other.uuid, "GPU-bbbb");
    EXPECT_FALSE(other.memory_bytes || other.memory_used_bytes || other.utilisation ||
                 other.power_w || other.temperature_c || other.numa_node);
  }
}

TEST(Nvml, HasNoGpusWithoutItsLibrary) {
  NvmlGpuSource source("libno-such-library.so");
  EXPECT_FALSE(source.is_loaded());
  EXPECT_TRUE(source.read()->empty());
}

TEST(SystemInfo, KnowsThisMachine) {
  const SystemInfo info = system_info();
  EXPECT_FALSE(info.host_name.empty());
  EXPECT_GE(info.cpu_milli, 1);
  EXPECT_LE(info.cpu_milli, sysconf(_SC_NPROCESSORS_CONF) * 1000);
  EXPECT_GT(info.memory_bytes, 64 << 20);
  EXPECT_LE(info.memory_bytes, sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE));
  EXPECT_FALSE(info.kernel_version.empty());
  EXPECT_FALSE(info.architecture.empty());
}

TEST(LogSink, WritesLinesWithTheirTime) {
  TempFolder folder;
  struct Case {
    LogOptions::Format format;
    std::string start, rest;
  };
  const Case cases[] = {
      {LogOptions::Format::logfmt, "time=2",
       " level=warn msg=\"disk is full\" free=0 path=\"/a b\"\n"},
      {LogOptions::Format::json, "{\"time\":\"2",
       "\",\"level\":\"warn\",\"msg\":\"disk is full\",\"free\":\"0\",\"path\":\"/a b\"}\n"},
  };
  for (const Case& one : cases) {
    const std::string path = folder / ("log" + one.start.substr(0, 1));
    const Log log = make_log({.path = path, .format = one.format, .level = LogLevel::warn}).value();
    log.info("not grave enough");
    log.warn("disk is full", {{"free", "0"}, {"path", "/a b"}});
    const std::string text = *read_file(path);
    EXPECT_TRUE(text.starts_with(one.start) && text.ends_with(one.rest)) << text;
    EXPECT_EQ(std::ranges::count(text, '\n'), 1);
  }
  EXPECT_FALSE(make_log({.path = folder / "no/such/folder"}));
  EXPECT_EQ(parse_log_level("debug"), LogLevel::debug);
  EXPECT_FALSE(parse_log_level("loud"));
}

}  // namespace
}  // namespace tau::host
