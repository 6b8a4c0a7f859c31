#include "sim/csv.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "base/text.h"

namespace tau::sim {
namespace {

// Appends the cells of one line; false = a quote is not closed or in the middle of a cell.
bool split_line(std::string_view line, std::vector<std::string_view>& cells) {
  while (true) {
    if (line.starts_with('"')) {
      const size_t end = line.find('"', 1);
      if (end == std::string_view::npos) return false;
      cells.push_back(line.substr(1, end - 1));
      line.remove_prefix(end + 1);
      if (line.empty()) return true;
      if (line[0] != ',') return false;
      line.remove_prefix(1);
      continue;
    }
    const size_t comma = line.find(',');
    cells.push_back(trim(line.substr(0, comma)));
    if (comma == std::string_view::npos) return true;
    line.remove_prefix(comma + 1);
  }
}

}  // namespace

Result<CsvTable> CsvTable::parse(std::string_view text, std::vector<std::string> columns) {
  CsvTable table;
  table.columns_ = std::move(columns);
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  uint32_t number = 0;
  std::vector<std::string_view> cells;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (trim(line).empty()) continue;
    cells.clear();
    if (!split_line(line, cells))
      return fail(ErrorCode::bad_request, fmt::format("line {}: a quote is out of place", number));
    if (table.columns_.empty()) {
      for (const std::string_view name : cells) table.columns_.emplace_back(name);
      continue;
    }
    if (cells.size() != table.columns_.size())
      return fail(ErrorCode::bad_request, fmt::format("line {}: {} cells where the header has {}",
                                                      number, cells.size(), table.columns_.size()));
    table.cells_.insert(table.cells_.end(), cells.begin(), cells.end());
    table.lines_.push_back(number);
  }
  if (table.columns_.empty()) return fail(ErrorCode::bad_request, "line 1: no header line");
  return table;
}

std::optional<size_t> CsvTable::find(std::string_view column) const {
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i] == column) return i;
  }
  return std::nullopt;
}

Result<size_t> CsvTable::need(std::string_view column) const {
  if (const auto found = find(column)) return *found;
  return fail(ErrorCode::bad_request,
              fmt::format("line 1: no column \"{}\" among {}", column, join(columns_, ", ")));
}

std::string CsvTable::where(size_t row, size_t column) const {
  return fmt::format("line {}, column \"{}\"", lines_[row], columns_[column]);
}

Result<double> CsvTable::number(size_t row, size_t column) const {
  const std::string_view text = cell(row, column);
  if (const auto value = parse_number(text)) return *value;
  return fail(ErrorCode::bad_request,
              fmt::format("{}: want a number, not \"{}\"", where(row, column), text));
}

Result<int64_t> CsvTable::whole(size_t row, size_t column) const {
  const double value = TRY(number(row, column));
  if (value == std::floor(value) && std::abs(value) < 9e15) return static_cast<int64_t>(value);
  return fail(ErrorCode::bad_request, fmt::format("{}: want a whole number, not \"{}\"",
                                                  where(row, column), cell(row, column)));
}

std::optional<double> parse_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

}  // namespace tau::sim
