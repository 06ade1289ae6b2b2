// What a plan of FFTW's interface computes, apart from addresses: the guru interface's dimensions, which every other
// planner of FFTW is a special case of. Strides count elements of a side's type (complex numbers, or reals where the
// side is real or split).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trn::dropin {

struct Axis {
  std::int64_t n, is, os;
  bool operator==(const Axis&) const = default;
};

enum class Form : int { C2C, R2C, C2R, R2R };

// FFTW's numbers of the real-to-real kinds.
enum class RealKind : int { R2HC, HC2R, DHT, REDFT00, REDFT01, REDFT10, REDFT11, RODFT00, RODFT01, RODFT10, RODFT11 };

struct Problem {
  Form form = Form::C2C;
  std::vector<Axis> axes, batch{};
  bool forward = true;
  bool split = false;
  bool in_place = false;
  std::vector<RealKind> kinds{};  // R2R: one for each axis

  [[nodiscard]] bool complex_input() const { return form == Form::C2C || form == Form::C2R; }
  [[nodiscard]] bool complex_output() const { return form == Form::C2C || form == Form::R2C; }
  // FFTW's conditions: lengths above 0, counts not below.
  [[nodiscard]] bool valid() const;
  // The problem in one line, which is also its wisdom.
  [[nodiscard]] std::string text() const;
};

}  // namespace trn::dropin
