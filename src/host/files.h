// Files as the platform needs them: whole reads, atomic writes, private folders, one owner per
// state folder.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace tau::host {

Result<std::string> read_file(const std::string& path);
// Temporary file, fsync, rename: readers see the old text or the new one.
Result<void> write_file(const std::string& path, std::string_view text, int mode = 0600);
Result<void> make_folder(const std::string& path, int mode = 0700);
bool file_exists(const std::string& path);
std::string home_folder();

// Holds an exclusive lock on a file until it is destroyed.
class FileLock {
 public:
  static Result<FileLock> take(const std::string& path);
  FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace tau::host
