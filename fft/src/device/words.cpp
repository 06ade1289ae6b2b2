// The words of each Mode: see words.hpp.
#include "words.hpp"

#include <trn/core/error.hpp>

namespace trn::fft::device {

const Words& words_of(Mode mode) {
  if (mode != Mode::Exact) return tile::words_of(mode);
  fail<NotImplemented>("fft.plan: mode {} has no float32 device kernel; use native, tf32, bf16, tf32x3 or bf16x6",
                       name(mode));
}

}  // namespace trn::fft::device
