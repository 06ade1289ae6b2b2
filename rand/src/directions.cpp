// Reads the direction numbers from the two data files, which the assembler puts into this object.
//
// joe_kuo.bin, for dimensions 1, 2, ... (dimension 0 is van der Corput's sequence and needs none), bits from the lowest
// of the first byte on: the degree s (5 bits), the coefficients of x^1 .. x^(s-1) of the polynomial, and m_2 .. m_s
// without their lowest bit, which is 1: i - 1 bits of m_i. m_1 = 1.
//
// curand_scrambling.bin, for dimensions 0 .. 1023: the shift (64 bits), then of a lower triangular 64 x 64 matrix with
// ones on its diagonal the columns 0 .. 62 below the diagonal, 63 .. 1 bits each, lowest bit first. Column k is the
// image of bit 63 - k.
#include "directions.hpp"

#include <vector>

asm(".pushsection .rodata\n"
    ".globl trn_rand_joe_kuo\n.hidden trn_rand_joe_kuo\n"
    "trn_rand_joe_kuo: .incbin \"" TRN_RAND_DATA
    "/joe_kuo.bin\"\n"
    ".globl trn_rand_scrambling\n.hidden trn_rand_scrambling\n"
    "trn_rand_scrambling: .incbin \"" TRN_RAND_DATA
    "/curand_scrambling.bin\"\n"
    ".popsection\n");

extern "C" {
extern const unsigned char trn_rand_joe_kuo[];
extern const unsigned char trn_rand_scrambling[];
}

namespace trn::rand {

namespace {

class BitReader {
 public:
  BitReader(const unsigned char* bytes, std::size_t at) : bytes_(bytes), at_(at) {}
  std::uint64_t take(int count) {
    std::uint64_t value = 0;
    for (int i = 0; i < count; ++i, ++at_) value |= std::uint64_t{bytes_[at_ / 8] >> (at_ % 8) & 1u} << i;
    return value;
  }
  void skip(std::size_t count) { at_ += count; }
  [[nodiscard]] std::size_t at() const { return at_; }

 private:
  const unsigned char* bytes_;
  std::size_t at_;
};

// Where each dimension begins: a dimension of degree s takes 5 + (s - 1) + s (s - 1) / 2 bits.
const std::vector<std::uint32_t>& starts() {
  static const std::vector<std::uint32_t> all = [] {
    std::vector<std::uint32_t> at(kSobolDimensions, 0);
    BitReader bits(trn_rand_joe_kuo, 0);
    for (std::size_t d = 1; d < kSobolDimensions; ++d) {
      at[d] = static_cast<std::uint32_t>(bits.at());
      const std::size_t s = bits.take(5);
      bits.skip(s - 1 + s * (s - 1) / 2);
    }
    return at;
  }();
  return all;
}

}  // namespace

// m_i = m_(i-s) ^ 2^s m_(i-s) ^ sum over the polynomial's inner coefficients a_k, of x^(s-k), of a_k 2^k m_(i-k).
Directions directions(std::uint32_t dimension) {
  Directions m{};
  if (dimension == 0) {
    m.fill(1);
  } else {
    BitReader bits(trn_rand_joe_kuo, starts()[dimension]);
    const auto s = static_cast<std::size_t>(bits.take(5));
    const std::uint64_t inner = bits.take(static_cast<int>(s) - 1);
    m[0] = 1;
    for (std::size_t i = 1; i < s; ++i) m[i] = bits.take(static_cast<int>(i)) << 1 | 1;
    for (std::size_t i = s; i < m.size(); ++i) {
      m[i] = m[i - s] ^ m[i - s] << s;
      for (std::size_t k = 1; k < s; ++k) {
        if (inner >> (s - k - 1) & 1) m[i] ^= m[i - k] << k;
      }
    }
  }
  for (std::size_t i = 0; i < m.size(); ++i) m[i] <<= 63 - i;
  return m;
}

Scrambled scrambled_directions(std::uint32_t dimension) {
  constexpr std::size_t kBits = 64 + 63 * 64 / 2;
  BitReader bits(trn_rand_scrambling, kBits * dimension);
  Scrambled result{{}, bits.take(64)};
  Directions column;
  for (int k = 0; k < 64; ++k) column[static_cast<std::size_t>(k)] = bits.take(63 - k) | std::uint64_t{1} << (63 - k);
  const Directions plain = directions(dimension);
  for (std::size_t k = 0; k < 64; ++k) {
    for (std::size_t j = 0; j <= k; ++j) {
      if (plain[k] >> (63 - j) & 1) result.directions[k] ^= column[j];
    }
  }
  return result;
}

}  // namespace trn::rand
