// Comma-separated text with a header line, as traces are kept. Errors name line and column.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tau::sim {

class CsvTable {
 public:
  // The first line names the columns, or `columns` does where the text has no header. Every line
  // has as many cells as there are columns; empty lines are passed over. A cell in double quotes
  // may hold commas, not quotes or line ends. `text` has to outlive the table.
  static Result<CsvTable> parse(std::string_view text, std::vector<std::string> columns = {});

  size_t rows() const { return lines_.size(); }
  const std::vector<std::string>& columns() const { return columns_; }
  std::optional<size_t> find(std::string_view column) const;
  // The column, or an error that lists those there are.
  Result<size_t> need(std::string_view column) const;
  std::string_view cell(size_t row, size_t column) const {
    return cells_[row * columns_.size() + column];
  }
  // The cell as a number; an error says line and column.
  Result<double> number(size_t row, size_t column) const;
  Result<int64_t> whole(size_t row, size_t column) const;
  // `line 7, column "gpus"`.
  std::string where(size_t row, size_t column) const;

 private:
  std::vector<std::string> columns_;
  std::vector<std::string_view> cells_;
  std::vector<uint32_t> lines_;  // of each row
};

// Decimal number with an optional fraction and exponent, whole text.
std::optional<double> parse_number(std::string_view text);

}  // namespace tau::sim
