#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "history/store_tests.h"
#include "host/files.h"
#include "host/sqlite_history.h"
#include "host/sqlite_journal.h"
#include "host/testing/test_world.h"

namespace tau::host {
namespace {

using apiserver::JournalRow;
using apiserver::JournalWrite;

class Journals : public ::testing::Test {
 protected:
  std::unique_ptr<SqliteJournal> open(Durability durability = Durability::full) {
    auto journal = SqliteJournal::open(loop_, path(), durability);
    EXPECT_TRUE(journal) << journal.error().message;
    return std::move(*journal);
  }
  std::string path() const { return folder_ / "state.db"; }
  static std::map<std::string, std::string> rows_of(SqliteJournal& journal,
                                                    int64_t* revision = nullptr) {
    std::map<std::string, std::string> rows;
    const auto last = journal.replay(
        [&](JournalRow row) { rows[row.key] = fmt::format("{}@{}", row.value, row.revision); });
    EXPECT_TRUE(last) << last.error().message;
    if (last && revision != nullptr) *revision = *last;
    return rows;
  }
  Result<void> append(SqliteJournal& journal, std::vector<JournalWrite> writes) {
    std::optional<Result<void>> outcome;
    journal.append(std::move(writes), [&](Result<void> done) { outcome = std::move(done); });
    EXPECT_FALSE(outcome) << "told before append() returned";
    EXPECT_TRUE(wait_for(loop_, [&] { return outcome.has_value(); }));
    return outcome ? *outcome : Result<void>(fail(ErrorCode::timeout, ""));
  }

  TempFolder folder_;
  AsioLoop loop_;
};

TEST_F(Journals, KeepTheLastStateOfEachKey) {
  for (const Durability durability : {Durability::full, Durability::normal}) {
    auto journal = open(durability);
    ASSERT_TRUE(append(*journal, {{"g/pods/a/x", 1, "one"}, {"g/pods/a/y", 2, "two"}}));
    ASSERT_TRUE(append(*journal,
                       {{"g/pods/a/x", 3, "\"three\" \xc3\xa9"}, {"g/pods/a/y", 4, std::nullopt}}));
    journal.reset();
    journal = open(durability);
    int64_t revision = 0;
    EXPECT_EQ(rows_of(*journal, &revision),
              (std::map<std::string, std::string>{{"g/pods/a/x", "\"three\" \xc3\xa9@3"}}));
    EXPECT_EQ(revision, 4);  // also that of a deletion counts
  }
}

TEST_F(Journals, TellInTheOrderOfTheAppends) {
  auto journal = open();
  std::vector<int64_t> told;
  for (int64_t i = 1; i <= 500; ++i) {
    journal->append({{fmt::format("k{}", i % 7), i, std::to_string(i)}},
                    [&told, i](Result<void> done) {
                      EXPECT_TRUE(done);
                      told.push_back(i);
                    });
  }
  ASSERT_TRUE(wait_for(loop_, [&] { return told.size() == 500; }));
  EXPECT_TRUE(std::ranges::is_sorted(told));
  EXPECT_EQ(rows_of(*journal).at("k3"), "500@500");
}

TEST_F(Journals, AreSilentOnceGone) {
  auto journal = open();
  journal->append({{"k", 1, "v"}}, [](Result<void>) { FAIL() << "told after the end"; });
  journal.reset();
  bool is_later = false;
  loop_.offload([] {}, [&] { is_later = true; });
  ASSERT_TRUE(wait_for(loop_, [&] { return is_later; }));
}

TEST_F(Journals, KeepNothingOfWhatFailedAndRecover) {
  auto journal = open();
  ASSERT_TRUE(append(*journal, {{"k", 1, "old"}}));
  // No file may grow beyond what it has: as a full disk.
  signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit full = before;
  full.rlim_cur = std::filesystem::file_size(path() + "-wal") + 100;
  setrlimit(RLIMIT_FSIZE, &full);
  const auto failed = append(*journal, {{"k", 2, "new"}, {"l", 3, std::string(100'000, 'x')}});
  const auto failed_again = append(*journal, {{"m", 4, std::string(100'000, 'x')}});
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(failed);
  EXPECT_FALSE(failed_again);
  EXPECT_EQ(failed.error().code, ErrorCode::unavailable);
  EXPECT_NE(failed.error().message.find(path()), std::string::npos) << failed.error().message;
  EXPECT_EQ(rows_of(*journal), (std::map<std::string, std::string>{{"k", "old@1"}}));
  ASSERT_TRUE(append(*journal, {{"n", 5, "works again"}}));
  journal.reset();
  journal = open();
  EXPECT_EQ(rows_of(*journal),
            (std::map<std::string, std::string>{{"k", "old@1"}, {"n", "works again@5"}}));
}

TEST_F(Journals, SayWhatIsWrongWithTheirFile) {
  write_file(path(), std::string(8192, 'j')).value();
  const auto journal = SqliteJournal::open(loop_, path(), Durability::full);
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().code, ErrorCode::internal);
  EXPECT_NE(journal.error().message.find(path()), std::string::npos) << journal.error().message;
  EXPECT_NE(journal.error().message.find("move it away"), std::string::npos)
      << journal.error().message;
}

TEST_F(Journals, NoticeDamage) {
  {
    auto journal = open();
    std::vector<JournalWrite> writes;
    for (int i = 0; i < 500; ++i)
      writes.push_back({fmt::format("key-{:04}", i), i + 1, std::string(500, 'v')});
    ASSERT_TRUE(append(*journal, std::move(writes)));
  }
  // The worker lets the file go, and with it the log of writes is merged into it.
  ASSERT_TRUE(wait_for(loop_, [&] {
    loop_.post([] {});
    return !file_exists(path() + "-wal");
  }));
  {
    std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
    for (int page = 4; page < 12; ++page)
      file.seekp(page * 4096).write(std::string(4096, '\x7f').data(), 4096);
  }
  auto journal = SqliteJournal::open(loop_, path(), Durability::full);
  const auto last = journal ? (*journal)->replay([](JournalRow) {})
                            : Result<int64_t>(std::unexpected(journal.error()));
  ASSERT_FALSE(last);
  EXPECT_NE(last.error().message.find("malformed"), std::string::npos) << last.error().message;
}

TEST_F(Journals, RefuseAFileFromTheFuture) {
  open();
  ASSERT_TRUE(Sqlite::open(path())->run("PRAGMA user_version = 99"));
  const auto journal = SqliteJournal::open(loop_, path(), Durability::full);
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().code, ErrorCode::unsupported);
  EXPECT_NE(journal.error().message.find("newer version"), std::string::npos)
      << journal.error().message;
}

// The promise that matters most: what was said to be durable is there after kill -9, and no append
// is there by half.
TEST_F(Journals, LoseNothingToAKilledWriter) {
  for (int round = 0; round < 5; ++round) {
    std::filesystem::remove(path());
    std::filesystem::remove(path() + "-wal");
    std::filesystem::remove(path() + "-shm");
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t writer = fork();
    if (writer == 0) {
      dup2(ends[1], STDOUT_FILENO);
      execl(TAU_SHIM_FOR_TESTS, TAU_SHIM_FOR_TESTS, "journal", path().c_str(), nullptr);
      _exit(1);
    }
    close(ends[1]);
    // Killed at a point that differs each time.
    std::string said;
    char buffer[512];
    const size_t enough = 200 + static_cast<size_t>(round) * 700;
    ssize_t size = 0;
    while (said.size() < enough && (size = read(ends[0], buffer, sizeof buffer)) > 0)
      said.append(buffer, static_cast<size_t>(size));
    kill(writer, SIGKILL);
    while ((size = read(ends[0], buffer, sizeof buffer)) > 0)
      said.append(buffer, static_cast<size_t>(size));
    close(ends[0]);
    waitpid(writer, nullptr, 0);
    int64_t last_said = 0;
    said.resize(said.rfind('\n') + 1);
    for (const std::string_view line : split(trim(said), '\n'))
      last_said = std::max(last_said, parse_int(line).value());
    ASSERT_GT(last_said, 10);

    auto journal = open();
    std::map<std::string, JournalRow> rows;
    const auto revision = journal->replay([&](JournalRow row) { rows[row.key] = row; });
    ASSERT_TRUE(revision) << revision.error().message;
    EXPECT_GE(*revision, last_said);
    for (int64_t i = std::max<int64_t>(1, last_said - 40); i <= last_said; ++i) {
      EXPECT_GE(rows[fmt::format("a/{}", i % 50)].revision, i) << "an acknowledged write is lost";
    }
    for (int i = 0; i < 50; ++i) {
      const JournalRow &a = rows[fmt::format("a/{}", i)], &b = rows[fmt::format("b/{}", i)];
      EXPECT_EQ(a.value, b.value) << "half an append is there";
      EXPECT_EQ(a.revision, b.revision);
    }
  }
}

class SqliteMaker {
 public:
  SqliteMaker() { reopen(); }
  history::HistoryStore& store() { return *store_; }
  void reopen() {
    store_.reset();
    store_ = SqliteHistory::open(folder_ / "history.db").value();
  }

 private:
  TempFolder folder_;
  std::unique_ptr<SqliteHistory> store_;
};

}  // namespace
}  // namespace tau::host

namespace tau::history {
INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, HistoryStores, host::SqliteMaker);
}  // namespace tau::history
