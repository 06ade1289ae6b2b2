// The names of trnfft's enumerators, as messages and tools print them.
#include <trn/fft/types.hpp>

namespace trn::fft {

const char* name(Kind kind) {
  switch (kind) {
    case Kind::ComplexToComplex:
      return "complex-to-complex";
    case Kind::RealToComplex:
      return "real-to-complex";
    case Kind::ComplexToReal:
      return "complex-to-real";
  }
  return "?";
}
const char* name(Direction direction) { return direction == Direction::Forward ? "forward" : "inverse"; }
const char* name(Scale scale) {
  switch (scale) {
    case Scale::None:
      return "none";
    case Scale::ByLength:
      return "by length";
    case Scale::Orthonormal:
      return "orthonormal";
  }
  return "?";
}
const char* name(Format format) { return format == Format::Interleaved ? "interleaved" : "planar"; }

}  // namespace trn::fft
