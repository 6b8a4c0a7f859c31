// A container's log: numbered files log.1, log.2, ... of lines
//   2026-12-01T05:37:43.123456Z stdout F text
// (F: a whole line; P: a part, which the next line of the stream continues). The newest number is
// written to; the oldest files go when there are too many. LogWriter lives in the shim, LogFiles
// reads, also while it is written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "embedded/kubelet/container_runtime.h"

namespace tau::host {

class LogWriter {
 public:
  LogWriter(std::string folder, int64_t file_bytes, int64_t files);
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;
  // Output of one stream (0 = stdout, 1 = stderr), cut anywhere.
  void write(int stream, std::string_view bytes, Time now);
  // What stands without a line's end is written as a part.
  void flush(Time now);

 private:
  void put(int stream, std::string_view text, bool is_whole, Time now);
  void append(const std::string& line);
  void rotate();

  std::string folder_;
  int64_t file_bytes_, files_;
  int fd_ = -1;
  int64_t number_ = 0, size_ = 0, lost_bytes_ = 0;
  std::string rest_[2];
};

// Reads what a query asks for, piece by piece, on any one thread at a time.
class LogFiles {
 public:
  LogFiles(std::string folder, kubelet::LogQuery query);
  ~LogFiles();
  LogFiles(const LogFiles&) = delete;
  LogFiles& operator=(const LogFiles&) = delete;
  // The next text for the reader; "" = nothing more for now.
  std::string read();
  // The limit of the query is reached: nothing more will come.
  bool is_full() const { return is_full_; }

 private:
  void find_start();
  bool open_next();
  void take(std::string_view record, std::string& out);

  std::string folder_;
  kubelet::LogQuery query_;
  bool is_started_ = false, is_full_ = false;
  int fd_ = -1;
  int64_t number_ = 0;      // of the file that is open
  int64_t skip_lines_ = 0;  // whole lines before the wanted tail
  int64_t sent_bytes_ = 0;
  std::string rest_;  // a record without its end
  bool is_line_open_ = false;
};

}  // namespace tau::host
