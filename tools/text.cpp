// Text and tables of at most 80 columns, colours, and what is under way.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <thread>

#include <fmt/format.h>

#include <trn/core/environment.hpp>

#include "output.hpp"

namespace trn::tools {

namespace {

using Cells = std::vector<std::vector<std::string>>;
constexpr std::size_t kGap = 2, kLeastText = 16;  // between columns; a column of text is wrapped to this at least

// Whether a Stage's line stands on standard error: what is printed next begins by wiping it.
std::atomic<bool>& stage_shown() {
  static std::atomic<bool> yes{false};
  return yes;
}

bool coloured() {
  static const bool yes = [] {
    // NO_COLOR: the convention of no-color.org. A terminal that does not say what it is gets no escapes.
    return environment("NO_COLOR", "").empty() && environment("TERM", "dumb") != "dumb" && isatty(fileno(stdout)) != 0;
  }();
  return yes;
}

std::string styled(const char* code, const std::string& text) {
  return coloured() ? fmt::format("\033[{}m{}\033[0m", code, text) : text;
}
std::string bold(const std::string& text) { return styled("1", text); }
std::string dim(const std::string& text) { return styled("2", text); }

std::vector<std::size_t> widths_of(const Cells& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  return widths;
}

std::size_t total(const std::vector<std::size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), widths.empty() ? 0 : kGap * (widths.size() - 1));
}

void erase_column(Cells& rows, std::size_t column) {
  for (auto& row : rows) {
    if (column < row.size()) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  }
}

bool says_nothing(const Cells& rows, std::size_t column) {
  return rows.size() > 1 && std::all_of(rows.begin() + 1, rows.end(), [&](const auto& row) {
           return column >= row.size() || row[column].empty() || row[column] == "-";
         });
}

// Words, not numbers, and the same ones in every row.
bool same_words(const Cells& rows, std::size_t column) {
  return rows.size() > 2 && !rows[1][column].empty() &&
         std::isalpha(static_cast<unsigned char>(rows[1][column].front())) != 0 &&
         std::all_of(rows.begin() + 1, rows.end(), [&](const auto& row) { return row[column] == rows[1][column]; });
}

// The rows of one table that fits; `left` are the columns that are aligned to the left and may have several lines.
void print_rows(const Cells& rows, std::vector<std::size_t> widths) {
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::vector<std::vector<std::string>> cells;
    std::size_t lines = 1;
    for (std::size_t i = 0; i < rows[r].size(); ++i) {
      cells.push_back(wrapped(rows[r][i], widths[i], i == 0 ? 2 : 0));
      lines = std::max(lines, cells.back().size());
    }
    for (std::size_t l = 0; l < lines; ++l) {
      std::string line;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string cell = l < cells[i].size() ? cells[i][l] : "";
        const std::string space(widths[i] - std::min(widths[i], width(cell)), ' ');
        const bool left = i == 0 || cells[i].size() > 1;
        line += (i == 0 ? "" : std::string(kGap, ' ')) + (left ? cell + space : space + cell);
      }
      line.resize(line.find_last_not_of(' ') + 1);
      fmt::print("{}\n", r == 0 ? bold(line) : line);
    }
    if (r == 0) fmt::print("{}\n", dim(std::string(std::min(total(widths), kColumns), '-')));
  }
}

}  // namespace

std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns, std::size_t indent) {
  std::vector<std::string> lines;
  std::string line;
  bool empty = true;  // no word on this line yet
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t word = std::min(text.find_first_not_of(' ', at), text.size());
    std::size_t end = std::min(text.find(' ', word), text.size());
    if (end - word + indent > columns) {  // a list without spaces: cut after a comma
      const std::size_t comma = text.rfind(',', word + columns - std::min(columns, indent + 1));
      if (comma != std::string_view::npos && comma > word && comma < end) end = comma + 1;
    }
    const std::string_view spaces = text.substr(at, word - at), letters = text.substr(word, end - word);
    if (!empty && width(line) + spaces.size() + width(letters) > columns) {
      lines.push_back(line);
      line = std::string(indent, ' ') + std::string(letters);
    } else {
      line += std::string(spaces) + std::string(letters);
    }
    empty = empty && letters.empty();
    at = end;
  }
  lines.push_back(line);
  return lines;
}

void say_text(std::string_view text) {
  while (true) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    for (const std::string& one : wrapped(line, kColumns, indent + 2)) fmt::print("{}\n", one);
    if (end == text.size()) return;
    text.remove_prefix(end + 1);
  }
}

void progress_text(const std::string& text) {
  std::fputs(((stage_shown().exchange(false) ? "\r\033[K" : "") + text).c_str(), stderr);
}

bool& explained() {
  static bool yes = false;
  return yes;
}

void Table::print() const {
  Cells rows = rows_;
  for (std::size_t i = rows.front().size(); i-- > 1;) {
    if (says_nothing(rows, i)) erase_column(rows, i);
  }
  std::string above;
  for (std::size_t i = rows.front().size(); i-- > 1 && total(widths_of(rows)) > kColumns;) {
    if (!same_words(rows, i)) continue;
    const std::string one = rows[0][i].empty() ? rows[1][i] : fmt::format("{}: {}", rows[0][i], rows[1][i]);
    above = above.empty() ? one : fmt::format("{}; {}", one, above);
    erase_column(rows, i);
  }
  if (!above.empty()) say_text(above);
  std::vector<std::size_t> widths = widths_of(rows);
  for (const std::size_t text : {std::size_t{0}, widths.size() - 1}) {
    const std::size_t others = total(widths) - widths[text];
    if (total(widths) > kColumns && widths[text] > kLeastText && others + kLeastText <= kColumns)
      widths[text] = kColumns - others;
  }
  if (total(widths) <= kColumns) return print_rows(rows, widths);
  // As many columns as fit, then the others.
  for (std::size_t begin = 1; begin < widths.size();) {
    std::size_t end = begin, sum = widths[0];
    while (end < widths.size() && (end == begin || sum + kGap + widths[end] <= kColumns)) sum += kGap + widths[end++];
    Cells part;
    for (const auto& row : rows) {
      part.push_back({row[0]});
      part.back().insert(part.back().end(), row.begin() + static_cast<std::ptrdiff_t>(begin),
                         row.begin() + static_cast<std::ptrdiff_t>(std::min(end, row.size())));
    }
    std::vector<std::size_t> own{widths[0]};
    own.insert(own.end(), widths.begin() + static_cast<std::ptrdiff_t>(begin),
               widths.begin() + static_cast<std::ptrdiff_t>(end));
    if (begin > 1) fmt::print("\n");
    print_rows(part, own);
    begin = end;
  }
}

struct Stage::Ticker {
  std::mutex mutex;
  std::condition_variable changed;
  std::string name;
  bool done = false;
  std::thread thread;

  void run() {
    using namespace std::chrono;
    const auto begin = steady_clock::now();
    std::unique_lock lock(mutex);
    for (auto next = begin + seconds(2); !changed.wait_until(lock, next, [&] { return done; }); next += seconds(1)) {
      const auto elapsed = duration_cast<seconds>(steady_clock::now() - begin).count();
      const std::string text = fmt::format("{}: {} s", name, elapsed);
      progress("{}", text.substr(0, kColumns - 1));
      std::fflush(stderr);
      stage_shown() = true;
    }
  }
};

Stage::Stage(const std::string& name) {
  if (isatty(fileno(stderr)) == 0) return;
  ticker_ = std::make_unique<Ticker>();
  ticker_->name = name;
  ticker_->thread = std::thread([ticker = ticker_.get()] { ticker->run(); });
}

Stage::~Stage() {
  if (!ticker_) return;
  {
    const std::scoped_lock lock(ticker_->mutex);
    ticker_->done = true;
  }
  ticker_->changed.notify_one();
  ticker_->thread.join();
  progress_text("");
}

void Stage::rename(const std::string& name) {
  if (!ticker_) return;
  const std::scoped_lock lock(ticker_->mutex);
  ticker_->name = name;
}

}  // namespace trn::tools
