#include "host/log_reader.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <deque>
#include <fstream>

#include "base/limits.h"
#include "base/text.h"

namespace tau::host {
namespace {

constexpr Duration poll_period = milliseconds(100);

struct Reader : std::enable_shared_from_this<Reader> {
  Reader(Loop& l, std::string p, kubelet::LogQuery q) : loop(l), path(std::move(p)), query(std::move(q)) {}

  // "<time> <stream> <F|P> <text>" as it is shown, or nothing if it is too old.
  std::optional<std::string> shown(std::string_view line) const {
    const size_t first = line.find(' '), second = line.find(' ', first + 1), third = line.find(' ', second + 1);
    if (third == std::string_view::npos) return std::nullopt;
    if (query.since) {
      const auto time = parse_rfc3339(line.substr(0, first));
      if (!time || *time < *query.since) return std::nullopt;
    }
    std::string text(line.substr(third + 1));
    if (line.substr(second + 1, third - second - 1) == "F") text += '\n';
    return query.timestamps ? std::string(line.substr(0, first)) + " " + text : text;
  }

  void give(std::string_view text) {
    if (query.limit_bytes) {
      text = text.substr(0, static_cast<size_t>(std::max<int64_t>(0, *query.limit_bytes - given)));
      given += static_cast<int64_t>(text.size());
    }
    if (!text.empty()) on_data(text);
  }
  bool is_full() const { return query.limit_bytes && given >= *query.limit_bytes; }

  // Whole lines of the current file from where we are; a line still being written waits.
  template <class Visit>
  void read_lines(std::ifstream& in, Visit visit) {
    in.clear();
    std::string line;
    while (std::getline(in, line)) {
      if (in.eof()) {
        rest = line;
        in.clear();
        in.seekg(-static_cast<std::streamoff>(line.size()), std::ios::end);
        return;
      }
      visit(line);
    }
  }

  void begin() {
    std::deque<std::string> tail;
    const auto keep = [&](std::string_view line) {
      auto text = shown(line);
      if (!text) return;
      if (!query.tail_lines) {
        give(*text);
        return;
      }
      tail.push_back(std::move(*text));
      if (tail.size() > static_cast<size_t>(*query.tail_lines)) tail.pop_front();
    };
    for (int i = limits::container_log_files - 1; i > 0; --i) {
      std::ifstream old(fmt::format("{}.{}", path, i));
      for (std::string line; std::getline(old, line);) keep(line);
    }
    open_current();
    read_lines(file, keep);
    for (const std::string& text : tail) give(text);
    if (!query.follow || is_full()) return end();
    step();
  }

  void open_current() {
    file = std::ifstream(path);
    struct stat info {};
    inode = stat(path.c_str(), &info) == 0 ? info.st_ino : 0;
  }

  void step() {
    if (is_stopped) return;
    const bool was_ended = is_ended();  // asked before reading: what was written before the end is read below
    if (!file.is_open() || inode == 0) open_current();
    const auto pass = [this](std::string_view line) {
      if (const auto text = shown(line)) give(*text);
    };
    read_lines(file, pass);
    struct stat info {};
    if (stat(path.c_str(), &info) == 0 && info.st_ino != inode) {  // rotated under us
      open_current();
      read_lines(file, pass);
    }
    if (is_stopped) return;
    if (was_ended || is_full()) return end();
    timer = loop.after(poll_period, [self = shared_from_this()] { self->step(); });
  }

  void end() {
    if (std::exchange(is_stopped, true)) return;
    if (on_end) on_end({});
  }

  Loop& loop;
  std::string path;
  kubelet::LogQuery query;
  std::function<bool()> is_ended;
  std::function<void(std::string_view)> on_data;
  std::move_only_function<void(Result<void>)> on_end;
  std::ifstream file;
  std::string rest;
  ino_t inode = 0;
  int64_t given = 0;
  bool is_stopped = false;
  TimerId timer;
};

}  // namespace

std::move_only_function<void()> start_log_reader(Loop& loop, std::string path, kubelet::LogQuery query, std::function<bool()> is_ended,
                                                 std::function<void(std::string_view)> on_data, std::move_only_function<void(Result<void>)> on_end) {
  auto reader = std::make_shared<Reader>(loop, std::move(path), std::move(query));
  reader->is_ended = std::move(is_ended);
  reader->on_data = std::move(on_data);
  reader->on_end = std::move(on_end);
  loop.post([reader] {
    if (!reader->is_stopped) reader->begin();
  });
  return [reader] {
    if (std::exchange(reader->is_stopped, true)) return;
    reader->loop.cancel(reader->timer);
    // What the callbacks hold goes with them.
    reader->loop.post([reader] {
      reader->on_data = nullptr;
      reader->on_end = nullptr;
    });
  };
}

}  // namespace tau::host
