// The report of the drop-in FFTW, and the state that its planner has: the number of threads and the wisdom.
#pragma once

#include <set>
#include <string>

#include "../environment.hpp"
#include "problem.hpp"

namespace trn::dropin {

// Counts an execution for the report.
void count(Form form, bool on_host);

struct Planner {
  int threads = 1;
  std::set<std::string> wisdom;  // the problems that were planned, or imported
};
// Runs f(planner) with the planner locked: planning is safe in several threads, whether FFTW was asked for that or not.
template <class F> auto with_planner(const F& f);

// Wisdom as text, and back; the latter returns false for what is not ours, and then takes nothing.
[[nodiscard]] std::string wisdom_text(const Planner& planner);
[[nodiscard]] bool take_wisdom(Planner& planner, const std::string& text);

namespace detail {
Planner& locked_planner();
void unlock_planner();
}  // namespace detail

template <class F> auto with_planner(const F& f) {
  struct Scope {
    Planner& planner = detail::locked_planner();
    ~Scope() { detail::unlock_planner(); }
  } scope;
  return f(scope.planner);
}

}  // namespace trn::dropin
