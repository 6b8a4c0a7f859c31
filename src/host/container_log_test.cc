#include "host/container_log.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <fstream>

#include "host/testing/test_world.h"

namespace tau::host {
namespace {

const Time t0 = Time(seconds(1'800'000'000));

std::string all_of(LogFiles& files) {
  std::string text;
  for (std::string piece = files.read(); !piece.empty(); piece = files.read()) text += piece;
  return text;
}
std::string all_of(const TempFolder& folder, kubelet::LogQuery query = {}) {
  LogFiles files(folder.path(), std::move(query));
  return all_of(files);
}

TEST(ContainerLog, KeepsLinesHoweverTheyAreCut) {
  TempFolder folder;
  LogWriter writer(folder.path(), 1 << 20, 3);
  for (const char* piece : {"he", "llo\nwor", "ld\n\nend"}) writer.write(0, piece, t0);
  writer.write(1, "error\n", t0);
  EXPECT_EQ(all_of(folder), "hello\nworld\n\nerror\n");
  writer.flush(t0);
  EXPECT_EQ(all_of(folder), "hello\nworld\n\nerror\nend");
}

TEST(ContainerLog, CutsWhatIsTooLongForALine) {
  TempFolder folder;
  LogWriter writer(folder.path(), 1 << 20, 3);
  const std::string line(100'000, 'x');
  writer.write(0, line + "\nnext\n", t0);
  EXPECT_EQ(all_of(folder), line + "\nnext\n");
  EXPECT_EQ(all_of(folder, {.tail_lines = 2}), line + "\nnext\n");
  EXPECT_EQ(all_of(folder, {.tail_lines = 1}), "next\n");
  const std::string stamped = all_of(folder, {.timestamps = true});
  EXPECT_EQ(stamped,
            format_rfc3339_micros(t0) + " " + line + "\n" + format_rfc3339_micros(t0) + " next\n");
}

TEST(ContainerLog, KeepsAFewFilesOfALimitedSize) {
  TempFolder folder;
  LogWriter writer(folder.path(), 4096, 3);
  for (int i = 0; i < 1000; ++i) writer.write(0, fmt::format("line {}\n", i), t0);
  int64_t bytes = 0, files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    bytes += static_cast<int64_t>(entry.file_size());
    EXPECT_LE(entry.file_size(), 4096u);
    ++files;
  }
  EXPECT_EQ(files, 3);
  const std::string text = all_of(folder);
  EXPECT_TRUE(text.ends_with("line 998\nline 999\n"));
  EXPECT_EQ(all_of(folder, {.tail_lines = 150}).substr(0, 9), "line 850\n");
}

TEST(ContainerLog, IsFollowedAcrossFiles) {
  TempFolder folder;
  LogWriter writer(folder.path(), 4096, 3);
  LogFiles files(folder.path(), {.follow = true});
  std::string want, got;
  for (int i = 0; i < 1000; ++i) {
    const std::string line = fmt::format("line {}\n", i);
    writer.write(0, line, t0);
    want += line;
    if (i % 37 == 0) got += all_of(files);
  }
  got += all_of(files);
  EXPECT_EQ(got, want);
}

TEST(ContainerLog, ShowsWhatIsSinceATime) {
  TempFolder folder;
  LogWriter writer(folder.path(), 1 << 20, 3);
  for (int i = 0; i < 5; ++i) writer.write(0, fmt::format("{}\n", i), t0 + seconds(i));
  EXPECT_EQ(all_of(folder, {.since = t0 + seconds(3)}), "3\n4\n");
  EXPECT_EQ(all_of(folder, {.tail_lines = 1, .since = t0 + seconds(3)}), "4\n");
}

TEST(ContainerLog, GoesOnAfterItsFilesOfAnEarlierLife) {
  TempFolder folder;
  {
    LogWriter writer(folder.path(), 1 << 20, 3);
    writer.write(0, "before\n", t0);
  }
  LogWriter writer(folder.path(), 1 << 20, 3);
  writer.write(0, "after\n", t0);
  EXPECT_EQ(all_of(folder), "before\nafter\n");
}

TEST(ContainerLog, SaysWhatAFullDiskCost) {
  TempFolder folder;
  LogWriter writer(folder.path(), 1 << 20, 3);
  writer.write(0, "first\n", t0);
  signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit full = before;
  full.rlim_cur = 60;  // half a record fits
  setrlimit(RLIMIT_FSIZE, &full);
  writer.write(0, "lost\n", t0);
  writer.write(0, "lost too\n", t0);
  setrlimit(RLIMIT_FSIZE, &before);
  writer.write(0, "last\n", t0);
  const std::string text = all_of(folder);
  EXPECT_TRUE(text.starts_with("first\ntau: ") &&
              text.ends_with(" bytes of this log could not be written\nlast\n"))
      << text;
}

TEST(ContainerLog, OfNothingIsEmpty) {
  TempFolder folder;
  EXPECT_EQ(all_of(folder), "");
  std::ofstream(folder / "log.1") << "not a record\n2026 x\n";
  EXPECT_EQ(all_of(folder), "");
}

}  // namespace
}  // namespace tau::host
