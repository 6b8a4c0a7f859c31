#include "host/container_log.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/text.h"

namespace tau::host {
namespace {

// A line longer than this is written in parts, as container engines do.
constexpr size_t part_bytes = 16 * 1024;
constexpr size_t read_bytes = 64 * 1024;
constexpr const char* stream_names[] = {"stdout", "stderr"};

std::string file_of(const std::string& folder, int64_t number) {
  return fmt::format("{}/log.{}", folder, number);
}

std::vector<int64_t> numbers_in(const std::string& folder) {
  std::vector<int64_t> numbers;
  DIR* open_folder = opendir(folder.c_str());
  if (open_folder == nullptr) return numbers;
  while (const dirent* entry = readdir(open_folder)) {
    const std::string_view name = entry->d_name;
    if (!name.starts_with("log.")) continue;
    if (const auto number = parse_int(name.substr(4))) numbers.push_back(*number);
  }
  closedir(open_folder);
  std::ranges::sort(numbers);
  return numbers;
}

// "<time> <stream> <F|P> <text>"; views into the record.
struct Record {
  std::string_view time, text;
  bool is_whole = true;
};
std::optional<Record> parse_record(std::string_view record) {
  const size_t time_end = record.find(' ');
  const size_t stream_end = record.find(' ', time_end + 1);
  const size_t tag_end = record.find(' ', stream_end + 1);
  if (time_end == std::string_view::npos || stream_end == std::string_view::npos ||
      tag_end == std::string_view::npos) {
    return std::nullopt;
  }
  return Record{record.substr(0, time_end), record.substr(tag_end + 1),
                record.substr(stream_end + 1, tag_end - stream_end - 1) == "F"};
}

}  // namespace

// ---- LogWriter ---------------------------------------------------------------------------------

LogWriter::LogWriter(std::string folder, int64_t file_bytes, int64_t files)
    : folder_(std::move(folder)),
      file_bytes_(std::max<int64_t>(file_bytes, 4096)),
      files_(std::max<int64_t>(files, 1)) {
  const auto numbers = numbers_in(folder_);
  if (!numbers.empty()) number_ = numbers.back();
  rotate();
}

LogWriter::~LogWriter() {
  if (fd_ >= 0) close(fd_);
}

void LogWriter::rotate() {
  const int fd =
      open(file_of(folder_, number_ + 1).c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return;  // goes on in the old file; tried again with the next line
  if (fd_ >= 0) close(fd_);
  fd_ = fd;
  size_ = 0;
  ++number_;
  for (const int64_t old : numbers_in(folder_)) {
    if (old <= number_ - files_) unlink(file_of(folder_, old).c_str());
  }
}

void LogWriter::append(const std::string& line) {
  if (size_ > 0 && size_ + static_cast<int64_t>(line.size()) > file_bytes_) rotate();
  std::string_view left = line;
  while (!left.empty() && fd_ >= 0) {
    const ssize_t written = ::write(fd_, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    left.remove_prefix(static_cast<size_t>(written));
    size_ += written;
  }
  if (left.empty()) return;
  // A full disk must not stop the container. Half a record is taken back, so that the next one
  // stands on its own line.
  lost_bytes_ += static_cast<int64_t>(line.size());
  size_ -= static_cast<int64_t>(line.size() - left.size());
  if (fd_ >= 0 && ftruncate(fd_, size_) != 0) return;
}

void LogWriter::put(int stream, std::string_view text, bool is_whole, Time now) {
  const std::string time = format_rfc3339_micros(now);
  if (lost_bytes_ > 0) {
    const int64_t lost = std::exchange(lost_bytes_, 0);
    append(fmt::format("{} stderr F tau: {} bytes of this log could not be written\n", time, lost));
    if (lost_bytes_ > 0) {  // still no room: the notice itself is not a loss
      lost_bytes_ = lost + static_cast<int64_t>(text.size());
      return;
    }
  }
  append(fmt::format("{} {} {} {}\n", time, stream_names[stream], is_whole ? 'F' : 'P', text));
}

void LogWriter::write(int stream, std::string_view bytes, Time now) {
  std::string& rest = rest_[stream];
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const size_t room = part_bytes - rest.size();
    if (end != std::string_view::npos && end <= room) {
      rest += bytes.substr(0, end);
      bytes.remove_prefix(end + 1);
      put(stream, rest, true, now);
      rest.clear();
    } else if (bytes.size() >= room) {
      rest += bytes.substr(0, room);
      bytes.remove_prefix(room);
      put(stream, rest, false, now);
      rest.clear();
    } else {
      rest += bytes;
      return;
    }
  }
}

void LogWriter::flush(Time now) {
  for (const int stream : {0, 1}) {
    if (!rest_[stream].empty()) put(stream, rest_[stream], false, now);
    rest_[stream].clear();
  }
}

// ---- LogFiles ----------------------------------------------------------------------------------

LogFiles::LogFiles(std::string folder, kubelet::LogQuery query)
    : folder_(std::move(folder)), query_(std::move(query)) {}

LogFiles::~LogFiles() {
  if (fd_ >= 0) close(fd_);
}

bool LogFiles::open_next() {
  for (const int64_t number : numbers_in(folder_)) {
    if (number <= number_) continue;
    const int fd = open(file_of(folder_, number).c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) continue;  // rotated away meanwhile
    if (fd_ >= 0) close(fd_);
    fd_ = fd;
    number_ = number;
    return true;
  }
  return false;
}

// For a tail: counts the whole lines of all files, so that the reading can skip the earlier ones.
void LogFiles::find_start() {
  is_started_ = true;
  if (!query_.tail_lines) return;
  int64_t lines = 0;
  bool is_open = false;
  std::string rest;
  char buffer[read_bytes];
  const auto count = [&](std::string_view record) {
    const auto parsed = parse_record(record);
    if (!parsed) return;
    if (parsed->is_whole) ++lines;
    is_open = !parsed->is_whole;
  };
  for (const int64_t number : numbers_in(folder_)) {
    const int fd = open(file_of(folder_, number).c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) continue;
    for (ssize_t size = ::read(fd, buffer, sizeof buffer); size > 0;
         size = ::read(fd, buffer, sizeof buffer)) {
      rest.append(buffer, static_cast<size_t>(size));
      size_t from = 0;
      for (size_t end = rest.find('\n'); end != std::string::npos; end = rest.find('\n', from)) {
        count(std::string_view(rest).substr(from, end - from));
        from = end + 1;
      }
      rest.erase(0, from);
    }
    close(fd);
  }
  skip_lines_ = std::max<int64_t>(0, lines + (is_open ? 1 : 0) - *query_.tail_lines);
}

void LogFiles::take(std::string_view record, std::string& out) {
  const auto parsed = parse_record(record);
  if (!parsed) return;
  if (skip_lines_ > 0) {
    if (parsed->is_whole) --skip_lines_;
    return;
  }
  if (query_.since) {
    const auto time = parse_rfc3339(parsed->time);
    if (time && *time < *query_.since) return;
  }
  if (query_.timestamps && !is_line_open_) {
    out += parsed->time;
    out += ' ';
  }
  out += parsed->text;
  if (parsed->is_whole) out += '\n';
  is_line_open_ = !parsed->is_whole;
}

std::string LogFiles::read() {
  std::string out;
  if (is_full_) return out;
  if (!is_started_) find_start();
  char buffer[read_bytes];
  while (out.size() < read_bytes) {
    const ssize_t size = fd_ < 0 ? 0 : ::read(fd_, buffer, sizeof buffer);
    if (size <= 0) {
      // The writer begins a new file only when it is done with the old one, but it may have
      // written to the old one since this end was seen.
      const auto numbers = numbers_in(folder_);
      if (numbers.empty() || numbers.back() <= number_) break;
      const ssize_t last = fd_ < 0 ? 0 : ::read(fd_, buffer, sizeof buffer);
      if (last > 0) {
        rest_.append(buffer, static_cast<size_t>(last));
      } else if (!open_next()) {
        break;
      }
    } else {
      rest_.append(buffer, static_cast<size_t>(size));
    }
    size_t from = 0;
    for (size_t end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n', from)) {
      take(std::string_view(rest_).substr(from, end - from), out);
      from = end + 1;
    }
    rest_.erase(0, from);
  }
  if (query_.limit_bytes) {
    const int64_t left = *query_.limit_bytes - sent_bytes_;
    if (static_cast<int64_t>(out.size()) >= left) {
      out.resize(static_cast<size_t>(std::max<int64_t>(0, left)));
      is_full_ = true;
    }
  }
  sent_bytes_ += static_cast<int64_t>(out.size());
  return out;
}

}  // namespace tau::host
