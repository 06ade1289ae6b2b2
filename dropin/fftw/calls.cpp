// The settings of the drop-in FFTW, which are those of the drop-in BLAS, its report, and its planner's state.
// Compiled once for each precision.
#include "calls.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace trn::dropin {

namespace {

#ifdef TRN_FFTW_SINGLE
constexpr const char* kWho = "trnfft (single)";
constexpr const char* kHead = "(trnfft-wisdom-1 single";
#else
constexpr const char* kWho = "trnfft (double)";
constexpr const char* kHead = "(trnfft-wisdom-1 double";
#endif

using Counts = std::array<std::atomic<long>, 4>;
Counts& counts(bool on_host) {
  static Counts host{}, device{};
  return on_host ? host : device;
}

void print_report() {
  const auto line = [](const std::string& name, const Counts& c) {
    const long c2c = c[0], r2c = c[1], c2r = c[2], r2r = c[3];
    std::fprintf(stderr, "%s: %s served %ld calls (c2c: %ld, r2c: %ld, c2r: %ld, r2r: %ld)\n", kWho, name.c_str(),
                 c2c + r2c + c2r + r2r, c2c, r2c, c2r, r2r);
  };
  line("host", counts(true));
  if (!environment().on_host) line(environment().executor.name(), counts(false));
}

std::mutex& planner_mutex() {
  static std::mutex& made = *new std::mutex;  // never destroyed, as the planner
  return made;
}

}  // namespace

const Environment& environment() {
  static const Environment* settings = [] {
    auto* e = new Environment(read_environment(kWho));
    if (e->report) {
      (void)counts(true);
      std::atexit(print_report);
    }
    return e;
  }();
  return *settings;
}

void count(Form form, bool on_host) {
  if (environment().report) counts(on_host)[static_cast<std::size_t>(form)].fetch_add(1, std::memory_order_relaxed);
}

namespace detail {
Planner& locked_planner() {
  static Planner& made = *new Planner;
  planner_mutex().lock();
  return made;
}
void unlock_planner() { planner_mutex().unlock(); }
}  // namespace detail

std::string wisdom_text(const Planner& planner) {
  std::string text = kHead;
  for (const std::string& problem : planner.wisdom) text += "\n  " + problem;
  return text + "\n)\n";
}

bool take_wisdom(Planner& planner, const std::string& text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  const std::string head = kHead;
  if (begin == std::string::npos || text.compare(begin, head.size(), head) != 0) return false;
  std::set<std::string> found;
  for (std::size_t at = begin + head.size();;) {
    at = text.find_first_not_of(" \t\r\n", at);
    if (at == std::string::npos) return false;  // cut off
    if (text[at] == ')') break;
    const auto end = text.find(')', at);
    if (text[at] != '(' || end == std::string::npos) return false;
    found.insert(text.substr(at, end + 1 - at));
    at = end + 1;
  }
  planner.wisdom.merge(found);
  return true;
}

}  // namespace trn::dropin
