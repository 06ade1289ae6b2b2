// SHA-256 (FIPS 180-4), for names of cache entries and for the integrity of files. Texts may come in pieces.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace trn::neuron::neff {

class Sha256 {
 public:
  Sha256& add(std::span<const std::byte> bytes);
  Sha256& add(std::string_view text) { return add(std::as_bytes(std::span(text))); }
  // A piece with its length before it, so that two lists of pieces never give the same bytes.
  Sha256& add_piece(std::string_view text);
  // In hexadecimal. The object is spent afterwards.
  [[nodiscard]] std::string finish();

 private:
  void block(const std::byte* bytes);

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, 64> rest_{};
  std::uint64_t bytes_ = 0;
};

[[nodiscard]] inline std::string sha256(std::span<const std::byte> bytes) { return Sha256().add(bytes).finish(); }

}  // namespace trn::neuron::neff
